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
    if (griddep_mode_find(name, &value, NULL))
        throw std::invalid_argument(std::string("there is no mode ") + name + "; there are serial, pdl, graph and graph-pdl");
    return value;
}

// What was moved from has nothing: NULL would be the default stream, and 0 an address.
inline void there(bool is, const char *what)
{
    if (!is)
        throw std::logic_error(std::string("this ") + what + " was moved from");
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
        return made;
    }
};

template <typename Value> class memory;

namespace detail {
template <typename Value> griddep_argument argument(const Value &value)
{
    static_assert(std::is_trivially_copyable_v<Value>, "an argument is copied to the device as it is");
    return {sizeof value, 0, 0, &value};
}
template <typename Value> griddep_argument argument(const memory<Value> &value) { return {8, 0, value.address(), nullptr}; }
} // namespace detail

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
    griddep_kernel *handle() const noexcept { return handle_; }

private:
    griddep_kernel *handle_;
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
    griddep_module *handle() const noexcept { return handle_.get(); }

private:
    friend class runtime;
    module(detail::hold hold, griddep_module *handle) : handle_(handle, {std::move(hold)}) {}
    detail::owner<griddep_module, griddep_module_unload> handle_;
};

/// Launches in stream order, prepared once, run many times. Memory that its arguments name must stay until the last run is over.
class chain {
public:
    template <typename... Arguments> chain &add(const kernel &kernel, const config &config, const Arguments &...arguments)
    {
        const std::array<griddep_argument, sizeof...(Arguments)> array{detail::argument(arguments)...};
        const griddep_launch_config raw = config.raw();
        call(griddep_chain_add, handle_.get(), kernel.handle(), &raw, array.data(), uint32_t(array.size()));
        return *this;
    }
    /// Modes are serial, pdl, graph and graph-pdl. run is asynchronous.
    void prepare(const char *mode) { call(griddep_chain_prepare, handle_.get(), detail::mode(mode)); }
    void run(const char *mode, void *stream = nullptr) { call(griddep_chain_run, handle_.get(), detail::mode(mode), stream); }
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
    detail::owner<griddep_chain, griddep_chain_destroy> handle_;
};

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
    /// PTX text, a cubin or a fatbin.
    griddep::module load(std::string_view image, const char *name = nullptr) const
    {
        griddep_module *made;
        auto options = sized<griddep_module_options>();
        options.name = name;
        call(griddep_module_load, handle(), static_cast<const void *>(image.data()), uint64_t(image.size()), &options, &made);
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
        call(griddep_stream_create, handle(), &made);
        return {hold_, made};
    }
    void synchronize(void *stream = nullptr) const { call(griddep_stream_synchronize, handle(), stream); }
    griddep_runtime *handle() const noexcept { return hold_->runtime; }

private:
    template <typename> friend class memory;
    detail::hold hold_;
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
