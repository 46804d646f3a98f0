// libgriddep for C++17: programmatic dependent launch for PTX, as values that end what they own. A header and nothing else.
//
//     #include <griddep.hpp>
//
//     griddep::runtime runtime;
//     griddep::module module = runtime.load(ptx);
//     griddep::memory<float> x(runtime, count);
//     module.kernel("scale").launch({132, 256}, x, 0.5f, count); // grid and block
//
// What fails throws griddep::error. Arguments are passed as they are: give them the types that the kernel declares (the library checks
// their sizes); memory is passed as its address. handle() gives what the functions of griddep.h take, for all that is not covered here.
// Objects may be ended in any order and on any thread. A child of fork must leave by exec or _exit: doc/languages.md.
#ifndef GRIDDEP_HPP
#define GRIDDEP_HPP

#include <griddep.h>

#include <array>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace griddep {

/// What went wrong: what() says what and where; file, line and column are its position (line 0: none).
class error : public std::runtime_error {
public:
    explicit error(int32_t from_status, const griddep_error &from)
        : std::runtime_error(std::string(griddep_status_name(from_status)) + ": " + from.text), status(from_status),
          driver_code(from.driver_code), line(from.line), column(from.column), file(from.file)
    {
    }
    int32_t status, driver_code, line, column;
    std::string file;
    const char *name() const noexcept { return griddep_status_name(status); }
};

/// Calls a function of griddep.h that ends with griddep_error *, and throws where it fails.
template <typename Function, typename... Arguments> void call(Function function, Arguments... arguments)
{
    griddep_error from;
    griddep_error_init(&from);
    if (int32_t status = function(arguments..., &from))
        throw error(status, from);
}

/// A struct of griddep.h, cleared, with its size set.
template <typename Struct> Struct sized()
{
    Struct made{};
    made.size = sizeof made;
    return made;
}

namespace detail {
using log_type = std::function<void(int32_t, const char *)>;

// An exception must not pass through C.
inline void log(void *user, int32_t level, const char *message) noexcept
{
    try {
        (*static_cast<log_type *>(user))(level, message);
    } catch (...) {
    }
}

// What all objects share: the runtime, which memory and streams need to be ended, and the log function, which any may call then.
struct context {
    context() = default;
    context(const context &) = delete;
    context &operator=(const context &) = delete;
    ~context() { griddep_runtime_close(runtime); }
    log_type log;
    griddep_runtime *runtime = nullptr;
};
using hold = std::shared_ptr<context>;

template <auto End> struct ender {
    hold kept;
    template <typename Object> void operator()(Object *object) const noexcept { End(object); }
};
template <typename Object, auto End> using owner = std::unique_ptr<Object, ender<End>>;

inline int32_t mode(const char *name)
{
    int32_t value;
    call(griddep_mode_find, name, &value);
    return value;
}

// What was moved from has nothing: NULL would be the default stream, and 0 an address.
inline void there(bool is, const char *what)
{
    if (!is)
        throw std::logic_error(std::string("this ") + what + " was moved from");
}
} // namespace detail

namespace detail {
using host_type = std::function<void()>;
using notify_type = std::function<void(const griddep_error *)>;

// They end what they were given; an exception must not pass through C.
inline void run_host(void *user) noexcept
{
    try {
        (*std::unique_ptr<host_type>(static_cast<host_type *>(user)))();
    } catch (...) {
    }
}
inline void run_notified(void *user, const griddep_error *failure) noexcept
{
    try {
        (*std::unique_ptr<notify_type>(static_cast<notify_type *>(user)))(failure);
    } catch (...) {
    }
}

template <typename Function, typename Callback, typename Kept>
void hand_in(Function function, griddep_runtime *runtime, void *stream, Callback callback, Kept kept)
{
    auto owned = std::make_unique<Kept>(std::move(kept));
    call(function, runtime, stream, callback, static_cast<void *>(owned.get()));
    owned.release();
}
} // namespace detail

/// A CUstream of the library's. Whatever takes a stream takes the CUstream of other code too.
class stream {
public:
    void synchronize() const
    {
        void *handle = *this;
        call(griddep_stream_synchronize, handle_.get_deleter().kept->runtime, handle);
    }
    /// Whether all that it was given is over.
    bool query() const
    {
        void *handle = *this;
        uint32_t done;
        call(griddep_stream_query, handle_.get_deleter().kept->runtime, handle, &done);
        return done != 0;
    }
    operator void *() const
    {
        detail::there(handle_ != nullptr, "stream");
        return handle_.get();
    }

private:
    friend class runtime;
    struct destroy {
        detail::hold kept;
        void operator()(void *handle) const noexcept { griddep_stream_destroy(kept->runtime, handle, nullptr); }
    };
    stream(detail::hold hold, void *handle) : handle_(handle, destroy{std::move(hold)}) {}
    std::unique_ptr<void, destroy> handle_;
};

/// How to launch.
struct config {
    struct dim {
        uint32_t x = 0, y = 0, z = 0;
        dim() = default;
        dim(uint32_t width, uint32_t height = 0, uint32_t depth = 0) : x(width), y(height), z(depth) {}
    };
    dim grid, block, cluster = {};
    uint32_t shared_bytes = 0;
    int32_t pdl = GRIDDEP_PDL_DEFAULT;
    void *stream = nullptr;
    uint32_t lane = 0;          // of a chain
    const char *name = nullptr; // likewise

    griddep_launch_config raw() const
    {
        auto made = sized<griddep_launch_config>();
        const dim *from[] = {&grid, &block, &cluster};
        uint32_t *to[] = {made.grid, made.block, made.cluster};
        for (int i = 0; i < 3; i++) {
            to[i][0] = from[i]->x;
            to[i][1] = from[i]->y;
            to[i][2] = from[i]->z;
        }
        made.shared_bytes = shared_bytes;
        made.pdl = pdl;
        made.stream = stream;
        made.lane = lane;
        made.name = name;
        return made;
    }
};

template <typename Value> class memory;
template <typename Value> class pinned;

namespace detail {
template <typename Value> griddep_argument argument(const Value &value)
{
    static_assert(std::is_trivially_copyable_v<Value>, "an argument is copied to the device as it is");
    return {sizeof value, 0, 0, &value};
}
template <typename Value> griddep_argument argument(const memory<Value> &value) { return {8, 0, value.address(), nullptr}; }
} // namespace detail

class runtime;

/// An entry of a module, valid as long as the module.
class kernel {
public:
    explicit kernel(griddep_kernel *handle) : handle_(handle) {}

    /// Launches, asynchronously. Returns a GRIDDEP_REASON_*: whether it may overlap what is before it, and why.
    template <typename... Arguments> int32_t launch(const config &config, const Arguments &...arguments) const
    {
        int32_t reason;
        const std::array<griddep_argument, sizeof...(Arguments)> array{detail::argument(arguments)...};
        const griddep_launch_config raw = config.raw();
        call(griddep_launch, handle_, &raw, array.data(), uint32_t(array.size()), &reason);
        return reason;
    }
    griddep_kernel_info info() const
    {
        auto made = sized<griddep_kernel_info>();
        call(griddep_kernel_get_info, handle_, &made);
        return made;
    }
    /// Vouches for GRIDDEP_TRAIT_* of code that the library cannot read: griddep_kernel_state_traits. Before the kernel is used.
    void state_traits(uint32_t traits) const { call(griddep_kernel_state_traits, handle_, traits); }
    griddep_kernel *handle() const noexcept { return handle_; }

private:
    griddep_kernel *handle_;
};

/// What PTX text, a cubin or a fatbin holds; needs no driver.
class image {
public:
    struct part {
        griddep_image_part info{};                              ///< data lives as long as the image
        std::vector<std::pair<std::string, uint32_t>> kernels; ///< of a cubin: names and GRIDDEP_TRAIT_*
    };
    explicit image(std::string_view data, const char *name = nullptr)
    {
        griddep_image *made;
        call(griddep_image_open, static_cast<const void *>(data.data()), uint64_t(data.size()), name, &made);
        handle_.reset(made);
        auto info = sized<griddep_image_info>();
        call(griddep_image_get_info, static_cast<const griddep_image *>(made), &info);
        kind = info.kind;
        for (uint32_t i = 0; i < info.part_count; i++)
            parts.push_back(read(i));
    }
    int32_t kind = 0; ///< GRIDDEP_IMAGE_*
    std::vector<part> parts;
    griddep_image *handle() const noexcept { return handle_.get(); }

private:
    part read(uint32_t index) const
    {
        const griddep_image *from = handle_.get();
        part made;
        made.info = sized<griddep_image_part>();
        call(griddep_image_get_part, from, index, &made.info);
        for (uint32_t i = 0; i < made.info.kernel_count; i++) {
            auto kernel = sized<griddep_image_kernel>();
            call(griddep_image_get_kernel, from, index, i, &kernel);
            made.kernels.emplace_back(kernel.name, kernel.traits);
        }
        return made;
    }
    struct destroy {
        void operator()(griddep_image *object) const noexcept { griddep_image_destroy(object); }
    };
    std::unique_ptr<griddep_image, destroy> handle_;
};

/// Code on the device.
class module {
public:
    griddep::kernel kernel(const char *name = nullptr) const
    {
        griddep_kernel *found;
        call(griddep_module_find_kernel, handle_.get(), name, &found);
        return griddep::kernel(found);
    }
    griddep_module_info info() const
    {
        auto made = sized<griddep_module_info>();
        call(griddep_module_get_info, handle_.get(), &made);
        return made;
    }
    /// Address and bytes of a module-scope variable.
    std::pair<uint64_t, uint64_t> variable(const char *name) const
    {
        uint64_t address, bytes;
        call(griddep_module_get_global, handle_.get(), name, &address, &bytes);
        return {address, bytes};
    }
    /// A managed variable, which is the host's to use where no kernel does; it lives as long as the module.
    template <typename Value> Value *managed(const char *name) const
    {
        void *found;
        uint64_t bytes;
        call(griddep_module_get_managed, handle_.get(), name, &found, &bytes);
        if (bytes < sizeof(Value))
            throw std::length_error(std::string(name) + " is smaller than what it is taken for");
        return static_cast<Value *>(found);
    }
    /// The module, which was loaded with GRIDDEP_MODULE_LIBRARY, in another runtime; its code is not given to the driver again.
    inline module share(const runtime &other) const;
    griddep_module *handle() const noexcept { return handle_.get(); }

private:
    friend class runtime;
    module(detail::hold hold, griddep_module *handle) : handle_(handle, {std::move(hold)}) {}
    detail::owner<griddep_module, griddep_module_unload> handle_;
};

/// Of what is no kernel in a chain.
struct place {
    uint32_t lane = 0;
    const char *name = nullptr;
};

/// Launches, copies, fills and host functions in stream order, prepared once, changed between runs, run many times. Memory that its arguments
/// name, and functions, must stay until the last run is over. What changes is for the runs that follow; indices count from 0.
class chain {
public:
    template <typename... Arguments> chain &add(const kernel &kernel, const config &config, const Arguments &...arguments)
    {
        const std::array<griddep_argument, sizeof...(Arguments)> array{detail::argument(arguments)...};
        const griddep_launch_config raw = config.raw();
        call(griddep_chain_add, handle_.get(), kernel.handle(), &raw, array.data(), uint32_t(array.size()));
        return *this;
    }
    template <typename Value> chain &copy(const memory<Value> &target, const memory<Value> &source, place at = {})
    {
        if (source.count() > target.count())
            throw std::length_error("the memory is smaller than what is copied");
        return with(griddep_chain_add_copy, at, target.address(), source.address(), source.count() * sizeof(Value));
    }
    template <typename Value> chain &fill(const memory<Value> &target, uint8_t value, place at = {})
    {
        return with(griddep_chain_add_fill, at, target.address(), value, target.count() * sizeof(Value));
    }
    /// Called on a thread of the driver: it must use neither the driver nor the library. What it throws is dropped.
    chain &host(std::function<void()> &function, place at = {})
    {
        return with(griddep_chain_add_host, at, call_host, static_cast<void *>(&function));
    }
    uint32_t find(const char *name) const
    {
        uint32_t index;
        call(griddep_chain_find, handle_.get(), name, &index);
        return index;
    }
    void depend(uint32_t index, uint32_t on) { call(griddep_chain_depend, handle_.get(), index, on); }
    /// What a launch reaches at addresses that no argument gives it: all that there is.
    void set_reach(uint32_t index, const std::vector<griddep_use> &uses)
    {
        call(griddep_chain_set_reach, handle_.get(), index, uses.data(), uint32_t(uses.size()));
    }
    template <typename... Arguments> void set_arguments(uint32_t index, const Arguments &...arguments)
    {
        const std::array<griddep_argument, sizeof...(Arguments)> array{detail::argument(arguments)...};
        call(griddep_chain_set_arguments, handle_.get(), index, array.data(), uint32_t(array.size()));
    }
    template <typename Argument> void set_argument(uint32_t index, uint32_t argument, const Argument &value)
    {
        const griddep_argument made = detail::argument(value);
        call(griddep_chain_set_argument, handle_.get(), index, argument, &made);
    }
    void set_config(uint32_t index, const config &config)
    {
        const griddep_launch_config raw = config.raw();
        call(griddep_chain_set_config, handle_.get(), index, &raw);
    }
    template <typename Value> void set_copy(uint32_t index, const memory<Value> &target, const memory<Value> &source)
    {
        if (source.count() > target.count())
            throw std::length_error("the memory is smaller than what is copied");
        call(griddep_chain_set_copy, handle_.get(), index, target.address(), source.address(), source.count() * sizeof(Value));
    }
    template <typename Value> void set_fill(uint32_t index, const memory<Value> &target, uint8_t value)
    {
        call(griddep_chain_set_fill, handle_.get(), index, target.address(), value, target.count() * sizeof(Value));
    }
    /// One more set, as the selected one is now; and the one that runs and changes are about.
    uint32_t add_argument_set()
    {
        uint32_t set;
        call(griddep_chain_add_argument_set, handle_.get(), &set);
        return set;
    }
    void select_argument_set(uint32_t set) { call(griddep_chain_select_argument_set, handle_.get(), set); }
    /// Modes are serial, pdl, graph and graph-pdl. run is asynchronous.
    void prepare(const char *mode) { call(griddep_chain_prepare, handle_.get(), detail::mode(mode)); }
    void run(const char *mode, void *stream = nullptr) { call(griddep_chain_run, handle_.get(), detail::mode(mode), stream); }
    void run_many(uint32_t rounds, const char *mode, void *stream = nullptr)
    {
        call(griddep_chain_run_many, handle_.get(), detail::mode(mode), rounds, stream);
    }
    uint32_t length() const noexcept { return griddep_chain_length(handle_.get()); }
    griddep_hop_info hop(const char *mode, uint32_t index)
    {
        auto made = sized<griddep_hop_info>();
        call(griddep_chain_get_hop, handle_.get(), detail::mode(mode), index, &made);
        return made;
    }
    griddep_chain *handle() const noexcept { return handle_.get(); }

private:
    friend class runtime;
    chain(detail::hold hold, griddep_chain *handle) : handle_(handle, {std::move(hold)}) {}
    template <typename Function, typename... Arguments> chain &with(Function function, const place &at, Arguments... arguments)
    {
        auto config = sized<griddep_launch_config>();
        config.lane = at.lane;
        config.name = at.name;
        call(function, handle_.get(), &config, arguments...);
        return *this;
    }
    static void call_host(void *function) noexcept
    {
        try {
            (*static_cast<std::function<void()> *>(function))();
        } catch (...) {
        }
    }
    detail::owner<griddep_chain, griddep_chain_destroy> handle_;
};

/// A file descriptor that becomes readable when a position in a stream is reached: for poll, epoll and event loops.
class completion {
public:
    int descriptor() const
    {
        int32_t found;
        call(griddep_completion_get_descriptor, static_cast<const griddep_completion *>(handle_.get()), &found);
        return found;
    }
    /// Again too, also before it is reached.
    void arm(void *stream = nullptr) { call(griddep_completion_arm, handle_.get(), stream); }
    /// How many positions have been reached since the last take; throws a fault once.
    uint64_t take()
    {
        uint64_t reached;
        call(griddep_completion_take, handle_.get(), &reached);
        return reached;
    }
    griddep_completion *handle() const noexcept { return handle_.get(); }

private:
    friend class runtime;
    completion(detail::hold hold, griddep_completion *handle) : handle_(handle, {std::move(hold)}) {}
    detail::owner<griddep_completion, griddep_completion_destroy> handle_;
};

/// What each device of a driver is like; no runtime is opened.
inline std::vector<griddep_device_info> devices(const char *driver = nullptr)
{
    std::vector<griddep_device_info> found;
    do {
        auto info = sized<griddep_device_info>();
        call(griddep_device_get_info, driver, int32_t(found.size()), &info);
        found.push_back(info);
    } while (found.size() < found[0].device_count);
    return found;
}

/// A driver, a device and a context.
class runtime {
public:
    using log_function = detail::log_type;

    /// `log` is called from any thread that uses the runtime, from several at once; what it throws is dropped.
    explicit runtime(griddep_runtime_options options = sized<griddep_runtime_options>(), log_function log = {})
        : hold_(std::make_shared<detail::context>())
    {
        if (log) {
            hold_->log = std::move(log);
            options.log = detail::log;
            options.log_user = &hold_->log;
        }
        call(griddep_runtime_open, &options, &hold_->runtime);
    }
    griddep_runtime_info info() const
    {
        auto made = sized<griddep_runtime_info>();
        call(griddep_runtime_get_info, handle(), &made);
        return made;
    }
    /// PTX text, a cubin or a fatbin; flags: GRIDDEP_MODULE_*.
    griddep::module load(std::string_view image, const char *name = nullptr, uint32_t flags = 0) const
    {
        griddep_module *made;
        auto options = sized<griddep_module_options>();
        options.name = name;
        options.flags = flags;
        call(griddep_module_load, handle(), static_cast<const void *>(image.data()), uint64_t(image.size()), &options, &made);
        return {hold_, made};
    }
    /// The same from a file; one whose name ends in .cu is compiled with NVRTC.
    griddep::module load_file(const char *path, const char *name = nullptr, uint32_t flags = 0) const
    {
        griddep_module *made;
        auto options = sized<griddep_module_options>();
        options.name = name;
        options.flags = flags;
        call(griddep_module_load_file, handle(), path, &options, &made);
        return {hold_, made};
    }
    /// CUDA C++ by NVRTC; options has headers, name expressions and NVRTC's own options.
    griddep::module compile(std::string_view source, griddep_module_options options = sized<griddep_module_options>()) const
    {
        griddep_module *made;
        call(griddep_module_compile, handle(), source.data(), uint64_t(source.size()), &options, &made);
        return {hold_, made};
    }
    /// One module of several PTX texts, relocatable cubins, fatbins and archives.
    griddep::module link(const std::vector<std::string_view> &images, const char *name = nullptr) const
    {
        griddep_module *made;
        auto options = sized<griddep_module_options>();
        options.name = name;
        std::vector<griddep_link_input> inputs;
        for (std::string_view image : images)
            inputs.push_back({image.data(), image.size(), nullptr});
        call(griddep_module_link, handle(), inputs.data(), uint32_t(inputs.size()), &options, &made);
        return {hold_, made};
    }
    griddep::module load_shelf(const char *kernel) const
    {
        griddep_module *made;
        call(griddep_module_load_shelf, handle(), kernel, nullptr, &made);
        return {hold_, made};
    }
    griddep::chain chain() const
    {
        griddep_chain *made;
        call(griddep_chain_create, handle(), &made);
        return {hold_, made};
    }
    griddep::stream stream() const
    {
        void *made;
        call(griddep_stream_create, handle(), nullptr, &made);
        return {hold_, made};
    }
    /// A smaller number is more urgent; a blocking stream and the legacy default one wait for each other.
    griddep::stream stream(int32_t priority, bool blocking = false) const
    {
        void *made;
        auto options = sized<griddep_stream_options>();
        options.priority = priority;
        options.flags = blocking ? GRIDDEP_STREAM_BLOCKING : 0;
        call(griddep_stream_create, handle(), &options, &made);
        return {hold_, made};
    }
    griddep::completion completion() const
    {
        griddep_completion *made;
        call(griddep_completion_create, handle(), &made);
        return {hold_, made};
    }
    void synchronize(void *stream = nullptr) const { call(griddep_stream_synchronize, handle(), stream); }
    void synchronize_all() const { call(griddep_runtime_synchronize, handle()); }
    /// The stream calls a function on a thread of the driver's, where the library refuses what needs the driver, and waits for its return.
    /// What it throws is dropped. Not for captured streams: the graph would call it more than once. After a fault it is not called.
    void add_host(detail::host_type function, void *stream = nullptr) const
    {
        auto info = sized<griddep_stream_info>();
        call(griddep_stream_get_info, handle(), stream, &info);
        if (info.captured)
            throw std::logic_error("the stream is being captured: a graph may call a function more than once");
        detail::hand_in(griddep_stream_add_host, handle(), stream, &detail::run_host, std::move(function));
    }
    /// Calls it once, likewise, when all that is in the stream now is over, or a fault (not NULL) has ended the context.
    void notify(detail::notify_type function, void *stream = nullptr) const
    {
        detail::hand_in(griddep_stream_notify, handle(), stream, &detail::run_notified, std::move(function));
    }
    /// Ready when all that is in the stream now is over; get() throws a fault.
    std::future<void> done(void *stream = nullptr) const
    {
        auto promise = std::make_shared<std::promise<void>>();
        auto future = promise->get_future();
        notify(
            [promise](const griddep_error *failure) {
                if (failure)
                    promise->set_exception(std::make_exception_ptr(error(failure->status, *failure)));
                else
                    promise->set_value();
            },
            stream);
        return future;
    }
    griddep_runtime *handle() const noexcept { return hold_->runtime; }

private:
    template <typename> friend class memory;
    template <typename> friend class pinned;
    friend class module;
    griddep::module own(griddep_module *made) const { return {hold_, made}; }
    detail::hold hold_;
};

inline module module::share(const runtime &other) const
{
    griddep_module *made;
    call(griddep_module_share, handle_.get(), other.handle(), &made);
    return other.own(made);
}

/// Memory of the host that copies reach without waiting. Its end waits for the context's work.
template <typename Value> class pinned {
    static_assert(std::is_trivially_copyable_v<Value>, "values are copied as they are");

public:
    pinned(const runtime &runtime, std::size_t count) : count_(count)
    {
        void *made;
        if (count > SIZE_MAX / sizeof(Value))
            throw std::length_error("more values than memory can hold");
        call(griddep_host_allocate, runtime.handle(), uint64_t(count * sizeof(Value)), uint32_t(GRIDDEP_HOST_PORTABLE), &made);
        values_ = {static_cast<Value *>(made), destroy{runtime.hold_}};
    }
    Value *data() const noexcept { return values_.get(); }
    std::size_t count() const noexcept { return count_; }
    Value *begin() const noexcept { return data(); }
    Value *end() const noexcept { return data() + count_; }
    Value &operator[](std::size_t index) const noexcept { return data()[index]; }

private:
    struct destroy {
        detail::hold kept;
        void operator()(Value *values) const noexcept { griddep_host_free(kept->runtime, values, nullptr); }
    };
    std::unique_ptr<Value, destroy> values_{nullptr, destroy{}};
    std::size_t count_;
};

/// Device memory of `count` values, freed with the object; the driver frees it when the work that uses it is done.
template <typename Value> class memory {
    static_assert(std::is_trivially_copyable_v<Value>, "values are copied as they are");

public:
    memory(const runtime &runtime, std::size_t count) : hold_(runtime.hold_), count_(count)
    {
        if (count > SIZE_MAX / sizeof(Value))
            throw std::length_error("more values than memory can hold");
        call(griddep_memory_allocate, hold_->runtime, uint64_t(bytes()), &address_);
    }
    memory(const runtime &runtime, const std::vector<Value> &values) : memory(runtime, values.size()) { write(values); }
    memory(memory &&other) noexcept
        : hold_(std::move(other.hold_)), address_(std::exchange(other.address_, 0)), count_(std::exchange(other.count_, 0))
    {
    }
    memory &operator=(memory other) noexcept
    {
        std::swap(hold_, other.hold_);
        std::swap(address_, other.address_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~memory()
    {
        if (address_)
            griddep_memory_free(hold_->runtime, address_, nullptr);
    }
    void write(const std::vector<Value> &values, void *stream = nullptr)
    {
        if (values.size() > count_)
            throw std::length_error("more values than the memory holds");
        const void *source = values.data();
        const uint64_t target = address();
        call(griddep_memory_write, hold_->runtime, target, source, uint64_t(values.size() * sizeof(Value)), stream);
    }
    std::vector<Value> read(void *stream = nullptr) const
    {
        std::vector<Value> values(count_);
        void *target = values.data();
        const uint64_t source = address();
        call(griddep_memory_read, hold_->runtime, target, source, uint64_t(bytes()), stream);
        return values;
    }
    /// These hand work in and return.
    void write_async(const pinned<Value> &from, void *stream = nullptr)
    {
        if (from.count() > count_)
            throw std::length_error("more values than the memory holds");
        const void *source = from.data();
        call(griddep_memory_write_async, hold_->runtime, address(), source, uint64_t(from.count() * sizeof(Value)), stream);
    }
    void read_async(pinned<Value> &to, void *stream = nullptr) const
    {
        if (to.count() < count_)
            throw std::length_error("more values than the pinned memory holds");
        void *target = to.data();
        call(griddep_memory_read_async, hold_->runtime, target, address(), uint64_t(bytes()), stream);
    }
    void copy_async(const memory &from, void *stream = nullptr)
    {
        if (from.count_ > count_)
            throw std::length_error("more values than the memory holds");
        call(griddep_memory_copy_async, hold_->runtime, address(), from.address(), uint64_t(from.bytes()), stream);
    }
    uint64_t address() const
    {
        detail::there(address_ != 0, "memory");
        return address_;
    }
    std::size_t count() const noexcept { return count_; }
    std::size_t bytes() const noexcept { return count_ * sizeof(Value); }

private:
    detail::hold hold_;
    uint64_t address_ = 0;
    std::size_t count_;
};

} // namespace griddep

#endif
