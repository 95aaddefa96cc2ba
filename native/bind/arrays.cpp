#include "arrays.hpp"

namespace {

template <class Size>
std::string shape_text(const Size* shape, std::size_t count) {
    std::string text = "(";
    for (std::size_t i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + (count == 1 ? ",)" : ")");
}

}  // namespace

void refuse(const std::string& message) { throw std::invalid_argument(message); }
void refuse(const char* message) { throw std::invalid_argument(message); }

void expect_shape(const char* name, const std::int64_t* shape, std::size_t axes, const std::size_t* wanted,
                  std::size_t wanted_axes) {
    const auto same = [](std::int64_t found, std::size_t size) { return static_cast<std::size_t>(found) == size; };
    if (!std::equal(shape, shape + axes, wanted, wanted + wanted_axes, same))
        refuse(std::string(name) + " has shape " + shape_text(shape, axes) + ", expected " +
               shape_text(wanted, wanted_axes));
}

bool ArrayHolder::hold(nb::handle object, Kind kind, void*& data, const std::int64_t*& shape) noexcept {
    std::construct_at(&array_);
    is_held_ = true;
    if (kind.is_constant) {
        if (!nb::try_cast(object, array_, false)) return false;
    } else {
        nb::ndarray<nb::c_contig, nb::device::cpu> writable;
        if (!nb::try_cast(object, writable, false)) return false;
        array_ = AnyArray(writable);
    }
    data = const_cast<void*>(array_.data());
    shape = array_.shape_ptr();
    return array_.dtype() == kind.type && array_.ndim() == kind.axes;
}

void ArrayHolder::release() noexcept { std::destroy_at(&array_); }
