/* What a reader of driver.def needs. It defines GD_DRIVER, includes the table, and undefines it
 * again; inside, these macros choose rows and unfold arguments. */
#ifndef GD_CUDA_DRIVER_ROWS_H
#define GD_CUDA_DRIVER_ROWS_H

/* The rest, for rows whose column says so. USED: the library calls the function. Of the emulated
 * driver: EMULATED and REFUSED, GIVEN by cuGetProcAddress, NOT_EMULATED. */
#define GD_WHERE_USED(need, ...) GD_USED_##need(__VA_ARGS__)
#define GD_USED_REQUIRED(...) __VA_ARGS__
#define GD_USED_OPTIONAL(...) __VA_ARGS__
#define GD_USED_UNUSED(...)

#define GD_WHERE_EMULATED(offer, ...) GD_EMULATED_##offer(__VA_ARGS__)
#define GD_EMULATED_ANYTIME(...) __VA_ARGS__
#define GD_EMULATED_LOCKED(...) __VA_ARGS__
#define GD_EMULATED_INIT(...) __VA_ARGS__
#define GD_EMULATED_CONTEXT(...) __VA_ARGS__
#define GD_EMULATED_LIVE(...) __VA_ARGS__
#define GD_EMULATED_REFUSED(...)
#define GD_EMULATED_LINKED(...)

#define GD_WHERE_REFUSED(offer, ...) GD_REFUSED_##offer(__VA_ARGS__)
#define GD_REFUSED_ANYTIME(...)
#define GD_REFUSED_LOCKED(...)
#define GD_REFUSED_INIT(...)
#define GD_REFUSED_CONTEXT(...)
#define GD_REFUSED_LIVE(...)
#define GD_REFUSED_REFUSED(...) __VA_ARGS__
#define GD_REFUSED_LINKED(...)

#define GD_WHERE_LINKED(offer, ...) GD_LINKED_##offer(__VA_ARGS__)
#define GD_LINKED_ANYTIME(...)
#define GD_LINKED_LOCKED(...)
#define GD_LINKED_INIT(...)
#define GD_LINKED_CONTEXT(...)
#define GD_LINKED_LIVE(...)
#define GD_LINKED_REFUSED(...)
#define GD_LINKED_LINKED(...) __VA_ARGS__

#define GD_WHERE_GIVEN(offer, ...)                                                                 \
    GD_WHERE_EMULATED(offer, __VA_ARGS__) GD_WHERE_REFUSED(offer, __VA_ARGS__)
#define GD_WHERE_NOT_EMULATED(offer, ...)                                                          \
    GD_WHERE_REFUSED(offer, __VA_ARGS__) GD_WHERE_LINKED(offer, __VA_ARGS__)

/* make(symbol with its suffix, ...) for a row with a per-thread variant. */
#define GD_WHERE_VARIANT(variant, symbol, make, ...) GD_VARIANT_##variant(symbol, make, __VA_ARGS__)
#define GD_VARIANT_NONE(symbol, make, ...)
#define GD_VARIANT_PTSZ(symbol, make, ...) make(symbol##_ptsz, __VA_ARGS__)
#define GD_VARIANT_PTDS(symbol, make, ...) make(symbol##_ptds, __VA_ARGS__)

/* The arguments of a row: declared, and named in a call. */
#define GD_PARAMETERS(arguments) (GD_END(GD_PARAMETER arguments))
#define GD_PARAMETER(type, name) type name GD_PARAMETER_A
#define GD_PARAMETER_A(type, name) , type name GD_PARAMETER_B
#define GD_PARAMETER_B(type, name) , type name GD_PARAMETER_A
#define GD_PARAMETER_END void
#define GD_PARAMETER_A_END
#define GD_PARAMETER_B_END

#define GD_VALUES(arguments) (GD_END(GD_VALUE arguments))
#define GD_VALUE(type, name) name GD_VALUE_A
#define GD_VALUE_A(type, name) , name GD_VALUE_B
#define GD_VALUE_B(type, name) , name GD_VALUE_A
#define GD_VALUE_END
#define GD_VALUE_A_END
#define GD_VALUE_B_END

/* Takes away the macro that waits for one more argument. */
#define GD_END(...) GD_PASTE_END(__VA_ARGS__)
#define GD_PASTE_END(...) __VA_ARGS__##_END

#endif
