/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [field: string]: Json }
