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

bool ArrayHolder::hold(nb::handle object, Kind kind, std::uint32_t flags, nb::detail::cleanup_list* cleanup,
                       void*& data, const std::int64_t*& shape) noexcept {
    using AnyArray = nb::detail::ndarray_config_t<int, nb::c_contig, nb::device::cpu>;
    static constexpr std::int64_t any_size[] = {-1, -1, -1, -1};
    nb::detail::ndarray_config wanted{AnyArray()};
    wanted.dtype = kind.type;
    wanted.ndim = kind.axes;
    wanted.ro = kind.is_constant;
    wanted.shape = any_size;
    held_ = NB_CALL(ndarray_import)(NB_CTX_C(cleanup), object.ptr(), &wanted, flags & nb::detail::cast_flags::convert,
                                    cleanup);
    if (!held_) return false;
    const auto* tensor = NB_CALL(ndarray_inc_ref)(held_);
    data = static_cast<char*>(tensor->data) + tensor->byte_offset;
    shape = tensor->shape;
    return true;
}

void ArrayHolder::release() noexcept { NB_CALL(ndarray_dec_ref)(held_); }
