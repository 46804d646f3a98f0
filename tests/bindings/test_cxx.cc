// The C++ binding, on the emulated driver or, with GRIDDEP_DRIVER=nvidia, on a GPU. PTX names the
// text that is loaded; the last line sums up the cases.
#include "griddep.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace
{

constexpr uint32_t count = 1000;
int passed, failed;
std::string ptx;

griddep::config shape()
{
    griddep::config made;
    made.grid = 8;
    made.block = {128, 1, 1};
    return made;
}

void require(bool good, const char *what, int line)
{
    if (!good)
        throw std::logic_error("line " + std::to_string(line) + ": " + what);
}
#define REQUIRE(condition) require(condition, #condition, __LINE__)

template <typename Test> void test(const char *name, Test body)
{
    try {
        body();
        passed++;
    } catch (const std::exception &problem) {
        failed++;
        std::printf("failed: %s: %s\n", name, problem.what());
    }
}

/// The status that a call fails with; GRIDDEP_OK where it does not.
template <typename Call> int32_t status_of(Call body)
{
    try {
        body();
    } catch (const griddep::error &problem) {
        return problem.status;
    }
    return GRIDDEP_OK;
}

std::vector<float> floats()
{
    std::vector<float> made(count);
    for (uint32_t i = 0; i < count; i++)
        made[i] = float(i);
    return made;
}

griddep_runtime_options defaults()
{
    auto options = griddep::sized<griddep_runtime_options>();
    const char *driver = std::getenv("GRIDDEP_DRIVER");
    options.driver = driver ? driver : "emulated";
    return options;
}

struct session {
    griddep::runtime runtime{defaults()};
    griddep::module module = runtime.load(ptx, "chain.ptx");
    griddep::memory<float> x{runtime, floats()}, y{runtime, count}, z{runtime, count};
    griddep::chain chain = runtime.chain();

    session()
    {
        chain.add(module.kernel("square"), shape(), x, y, count)
            .add(module.kernel("shift"), shape(), y, z, 0.5f, count);
    }
};

bool is_result(const std::vector<float> &values)
{
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] != float(i) * float(i) + 0.5f)
            return false;
    }
    return true;
}

void every_mode()
{
    session on;
    griddep::stream stream = on.runtime.stream();
    for (std::string mode : {"serial", "pdl", "graph", "graph-pdl"}) {
        on.z.write(std::vector<float>(count));
        on.chain.prepare(mode.c_str());
        on.chain.run(mode.c_str(), stream);
        REQUIRE(is_result(on.z.read(stream)));
        bool overlaps = mode.find("pdl") != std::string::npos;
        REQUIRE(on.chain.hop(mode.c_str(), 1).reason ==
                (overlaps ? GRIDDEP_REASON_SET : GRIDDEP_REASON_OFF));
    }
}

void a_chain_changes_between_runs()
{
    for (std::string mode : {"serial", "pdl", "graph", "graph-pdl"}) {
        session on;
        int calls = 0;
        std::function<void()> counted = [&] { calls++; };
        griddep::memory<float> w{on.runtime, count};
        griddep::chain chain = on.runtime.chain();
        griddep::config named = shape();
        named.name = "first";
        chain.fill(on.y, 0)
            .add(on.module.kernel("square"), named, on.x, on.y, count)
            .add(on.module.kernel("shift"), shape(), on.y, on.z, 0.5f, count)
            .copy(w, on.z, {0, "out"})
            .host(counted);
        const uint32_t set = chain.add_argument_set(), shift = chain.find("shift");
        chain.select_argument_set(set);
        chain.set_arguments(shift, on.y, on.z, 1.0f, count);
        chain.set_argument(shift, 2, 1.5f);
        chain.set_config(chain.find("first"), shape());
        for (uint32_t turn : {0u, set, 0u}) {
            chain.select_argument_set(turn);
            chain.run_many(2, mode.c_str());
            REQUIRE(w.read()[3] == (turn ? 10.5f : 9.5f));
        }
        chain.set_copy(chain.find("out"), w, on.x);
        chain.set_fill(0, on.y, 1);
        chain.run(mode.c_str());
        REQUIRE(w.read()[3] == 3);
        REQUIRE(calls == 7);
    }
}

void arguments()
{
    session on;
    griddep::kernel shift = on.module.kernel("shift");
    REQUIRE(shift.launch(shape(), on.x, on.z.address(), 2.5f, count) == GRIDDEP_REASON_SET);
    REQUIRE(on.z.read()[3] == 5.5f);
    REQUIRE(status_of([&] { shift.launch(shape(), on.x, on.z, 2.5, count); }) ==
            GRIDDEP_ERROR_SIGNATURE);
    REQUIRE(status_of([&] { shift.launch(shape(), on.x, on.z, 2.5f); }) == GRIDDEP_ERROR_SIGNATURE);
}

template <typename Exception, typename Function> bool throws(Function function)
{
    try {
        function();
    } catch (const Exception &) {
        return true;
    }
    return false;
}

void what_is_not_there()
{
    session on;
    griddep::kernel square = on.module.kernel("square");
    griddep::memory<float> y = std::move(on.y);
    griddep::stream stream = on.runtime.stream(), other = std::move(stream);
    REQUIRE(throws<std::logic_error>([&] { square.launch(shape(), on.x, on.y, count); }));
    REQUIRE(throws<std::logic_error>([&] { on.y.write({}); }));
    REQUIRE(throws<std::logic_error>([&] { on.y.read(); }));
    REQUIRE(throws<std::logic_error>([&] { stream.synchronize(); }));
    REQUIRE(throws<std::logic_error>([&] { on.x.read(stream); }));
    REQUIRE(
        throws<std::length_error>([&] { griddep::memory<float>(on.runtime, SIZE_MAX / 4 + 2); }));
    REQUIRE(throws<std::length_error>([&] { y.write(std::vector<float>(count + 1)); }));
    REQUIRE(throws<griddep::error>([&] { on.chain.run("sideways"); }));
}

void errors()
{
    session on;
    std::string broken = ptx;
    broken.replace(broken.find("add.f32 %v, %v, %b;"), 19, "add.f32 %v, %v %b;");
    REQUIRE(status_of([&] { on.runtime.load(broken); }) == GRIDDEP_ERROR_SYNTAX);
    try {
        on.runtime.load(broken, "broken.ptx");
    } catch (const griddep::error &problem) {
        REQUIRE(problem.status == GRIDDEP_ERROR_SYNTAX && problem.file == "broken.ptx");
        REQUIRE(problem.line == 57 && problem.column == 20);
        REQUIRE(std::string(problem.what()).find("57 | ") != std::string::npos);
    }
    REQUIRE(status_of([&] { on.module.kernel("cube"); }) == GRIDDEP_ERROR_NOT_FOUND);
}

void moves_and_order_of_ends()
{
    std::optional<session> on(std::in_place);
    griddep::memory<float> z = std::move(on->z), w(on->runtime, 1);
    w = std::move(z);
    griddep::stream stream = on->runtime.stream();
    on->chain.run("pdl", stream);
    stream.synchronize();
    on.reset();
    REQUIRE(is_result(w.read()));
}

void ends_on_another_thread()
{
    session on;
    on.chain.run("pdl");
    std::thread([module = std::move(on.module), chain = std::move(on.chain), x = std::move(on.x)] {
    }).join();
    REQUIRE(is_result(on.z.read()));
}

void log_from_several_threads()
{
    std::mutex lock;
    std::set<std::thread::id> heard;
    auto options = defaults();
    options.log_level = GRIDDEP_LOG_DEBUG;
    griddep::runtime runtime(options, [&](int32_t, const char *) {
        std::lock_guard<std::mutex> guard(lock);
        heard.insert(std::this_thread::get_id());
        throw std::runtime_error("from a log function");
    });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] { runtime.load_file(std::getenv("PTX")).kernel("square"); });
    for (auto &thread : threads)
        thread.join();
    REQUIRE(heard.size() > 1);
}

void completions()
{
    griddep::runtime runtime;
    griddep::module module = runtime.load(ptx);
    griddep::stream stream = runtime.stream(0, true);
    griddep::pinned<float> in(runtime, count), out(runtime, count);
    griddep::memory<float> x(runtime, count), y(runtime, count);
    griddep::config config = shape();
    std::atomic<int> called{0};
    int32_t refused = 0;

    for (uint32_t i = 0; i < count; i++)
        in[i] = float(i);
    config.stream = stream;
    x.write_async(in, stream);
    module.kernel("square").launch(config, x, y, count);
    y.read_async(out, stream);
    x.copy_async(y, stream);
    runtime.done(stream).get();
    stream.synchronize(); // what told the future stands in the stream too
    REQUIRE(out[9] == 81 && stream.query());
    griddep::completion completion = runtime.completion();
    REQUIRE(completion.descriptor() >= 0 && completion.take() == 0);
    completion.arm(stream);
    completion.arm(stream);
    runtime.add_host(
        [&] {
            refused = status_of([&] { griddep::memory<float> more(runtime, 1); });
            called++;
            throw std::runtime_error("from a host function");
        },
        stream);
    runtime.notify([&](const griddep_error *failure) { called += failure ? 10 : 1; }, stream);
    runtime.synchronize_all();
    REQUIRE(called == 2 && refused == GRIDDEP_ERROR_CALLBACK && completion.take() == 2);
    REQUIRE(status_of([&] { runtime.stream(-99); }) == GRIDDEP_ERROR_LIMIT);
    REQUIRE(griddep::devices().at(0).capability == runtime.info().capability);
}

void code()
{
    const std::string caller = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func leave();\n.visible .entry k()\n{\ncall leave;\nret;\n}\n", callee = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func leave()\n{\nret;\n}\n", managed = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n.visible .entry up()\n{\n.reg .u32 %r;\ngriddepcontrol.wait;\nld.global.u32 %r, [counter];\nadd.u32 %r, %r, 1;\nst.global.u32 [counter], %r;\nret;\n}\n";
    griddep::runtime runtime(defaults());
    auto options = defaults();
    options.multiprocessors = 1;
    griddep::runtime part(options);
    REQUIRE(runtime.link({caller, callee}).info().kernel_count == 1);
    REQUIRE(status_of([&] { runtime.link({caller}); }) == GRIDDEP_ERROR_COMPILE);
    griddep::module module = runtime.load(managed, "up.ptx", GRIDDEP_MODULE_LIBRARY);
    griddep::module shared = module.share(part);
    REQUIRE(part.info().multiprocessors == 1);
    module.kernel().launch({1, 1});
    runtime.synchronize_all();
    shared.kernel().launch({1, 1});
    part.synchronize_all();
    REQUIRE(*module.managed<uint32_t>("counter") == 7);
    REQUIRE(module.variable("counter").second == 4);
    REQUIRE(status_of([&] { module.managed<uint32_t>("none"); }) == GRIDDEP_ERROR_NOT_FOUND);
    REQUIRE(status_of([&] { runtime.load(managed).share(part); }) == GRIDDEP_ERROR_ARGUMENT);
    REQUIRE(status_of([&] { module.kernel().state_traits(0); }) == GRIDDEP_ERROR_UNSUPPORTED);
    module.kernel().state_traits(GRIDDEP_TRAIT_WAITS_ALWAYS);
    griddep::image image(managed, "up.ptx");
    REQUIRE(image.kind == GRIDDEP_IMAGE_PTX && image.parts.size() == 1 && image.parts[0].info.bytes >= managed.size());
    REQUIRE(status_of([] { griddep::image("hello"); }) == GRIDDEP_ERROR_IMAGE);
}

} // namespace

int main()
{
    std::ostringstream text;
    text << std::ifstream(std::getenv("PTX")).rdbuf();
    ptx = text.str();
    test("every mode", every_mode);
    test("a chain changes between runs", a_chain_changes_between_runs);
    test("arguments", arguments);
    test("what was moved from, and sizes that are too large, are refused", what_is_not_there);
    test("errors have status and position", errors);
    test("moves, and objects ended in any order", moves_and_order_of_ends);
    test("ends on another thread while the device works", ends_on_another_thread);
    test("completions, pinned memory, pools", completions);
    test("links, shared modules, managed variables, images", code);
    test("log from several threads, and an exception in it", log_from_several_threads);
    std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
