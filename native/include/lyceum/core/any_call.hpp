// A function object without its type, for calls that take long: the code around them is compiled once, not for every
// object. What takes one is marked [[gnu::noipa]], so that the compiler does not copy it for every object again. The
// object must live as long as it is called.
#pragma once

namespace lyceum {

template <class Signature>
class AnyCall;

template <class Result, class... Arguments>
class AnyCall<Result(Arguments...)> {
public:
    template <class Function>
    AnyCall(const Function& function)
        : function_(&function), call_([](const void* object, Arguments... arguments) -> Result {
              return (*static_cast<const Function*>(object))(arguments...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }

private:
    const void* function_;
    Result (*call_)(const void*, Arguments...);
};

}  // namespace lyceum
