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

template <class T, int Dimensions>
using Array = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
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

// A NumPy array that owns the values of a vector: of one axis, or of rows of `width`.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::size_t width = 0) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    auto* vector = owned.get();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (!width) return nb::ndarray<nb::numpy, T>(vector->data(), {vector->size()}, owner);
    return nb::ndarray<nb::numpy, T>(vector->data(), {vector->size() / width, width}, owner);
}

inline lyceum::Poll signals() {
    return lyceum::Poll(+[] {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
}
