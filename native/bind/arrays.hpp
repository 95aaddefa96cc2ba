// What every binding shares: array types, shape checks with clear errors, and the poll for Ctrl-C.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <initializer_list>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

// An array that lives as long as whoever holds it: the members of a bound class.
template <class T, int Dimensions>
using HeldArray = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// An array argument, valid during the call: data and shape of what its caster (below) holds. It is copied and destroyed
// by no code, which halves the code of a binding.
template <class T, int Dimensions>
class Array {
public:
    T* data() const { return static_cast<T*>(data_); }
    std::size_t shape(std::size_t axis) const { return static_cast<std::size_t>(shape_[axis]); }
    const std::int64_t* shape_ptr() const { return shape_; }
    static constexpr std::size_t ndim() { return Dimensions; }

private:
    friend struct nb::detail::type_caster<Array>;
    void* data_ = nullptr;
    const std::int64_t* shape_ = nullptr;
};

template <class T>
using Maybe = std::optional<T>;
using Weights = Maybe<Array<const double, 1>>;
using CodesArray = Array<const std::int32_t, 1>;
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;

// Checks are small where they stand: what a failed one does is compiled once, in arrays.cpp.
[[noreturn, gnu::cold]] void refuse(const std::string& message);
[[noreturn, gnu::cold]] void refuse(const char* message);
void expect_shape(const char* name, const std::int64_t* shape, std::size_t axes, const std::size_t* wanted,
                  std::size_t wanted_axes);

template <class A>
void expect_shape(const char* name, const A& array, std::initializer_list<std::size_t> wanted) {
    expect_shape(name, array.shape_ptr(), array.ndim(), wanted.begin(), wanted.size());
}

inline void expect(bool held, const char* message) {
    if (!held) refuse(message);
}

inline void expect(bool held, const std::string& message) {
    if (!held) refuse(message);
}

// The data of an optional array after a check of its shape, or null.
template <class A>
auto data_or_null(const char* name, const Maybe<A>& array, std::initializer_list<std::size_t> wanted) {
    if (array) expect_shape(name, *array, wanted);
    return array ? array->data() : nullptr;
}

template <class T>
lyceum::Matrix<T> matrix(const Array<T, 2>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

template <class T>
lyceum::Matrix<T> matrix(const HeldArray<T, 2>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

// A NumPy array that owns the values of a vector: of one axis, or of rows of `width`.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::size_t width = 0) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    auto* vector = owned.get();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (!width) return nb::ndarray<nb::numpy, T>(vector->data(), {vector->size()}, owner);
    return nb::ndarray<nb::numpy, T>(vector->data(), {vector->size() / width, width}, owner);
}

inline lyceum::InterruptPoll signals() {
    return lyceum::InterruptPoll(+[] {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
}

// Any array whose cells lie one after the other; what else a binding asks of it is compared when it has come.
using AnyArray = nb::ndarray<nb::c_contig, nb::device::cpu, nb::ro>;

// Holds the array of an argument until the call is over.
class ArrayHolder {
public:
    struct Kind {
        nb::dlpack::dtype type;
        std::uint8_t axes;
        bool is_constant;
    };

    ArrayHolder() {}
    ArrayHolder(const ArrayHolder&) = delete;
    ArrayHolder& operator=(const ArrayHolder&) = delete;
    ~ArrayHolder() {
        if (is_held_) release();
    }

    // Whether `object` is an array of this kind; data and shape are set if it is. Nothing is converted.
    bool hold(nb::handle object, Kind kind, void*& data, const std::int64_t*& shape) noexcept;

private:
    void release() noexcept;
    union {
        AnyArray array_;  // there while is_held_ says so: an argument that holds none costs nothing
    };
    bool is_held_ = false;
};

namespace nanobind::detail {

template <class T, int Dimensions>
struct type_caster<Array<T, Dimensions>> {
    using Argument = Array<T, Dimensions>;
    using Held = HeldArray<T, Dimensions>;
    NB_TYPE_CASTER(Argument, make_caster<Held>::Name)

    bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
        constexpr ArrayHolder::Kind kind{dtype<T>(), Dimensions, std::is_const_v<T>};
        return holder.hold(source, kind, value.data_, value.shape_);
    }

    ArrayHolder holder;
};

template <class T, int Dimensions>
struct type_caster<std::optional<Array<T, Dimensions>>> {
    using Argument = Array<T, Dimensions>;
    NB_TYPE_CASTER(std::optional<Argument>, make_caster<Argument>::Name + const_name(" | None"))

    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        if (source.is_none()) return true;
        if (!array.from_python(source, flags, cleanup)) return false;
        value = array.value;
        return true;
    }

    make_caster<Argument> array;
};

}  // namespace nanobind::detail
