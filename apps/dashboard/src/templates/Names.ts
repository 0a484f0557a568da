/** Names of templates, and of the fields that fill their placeholders. Pure. */

/**
 * A text in lower case, with `_` for spaces and hyphens: `Order update` becomes `order_update`. Other characters stay.
 */
export const asName = (text: string): string => text.toLowerCase().replaceAll(/[\s-]+/g, "_")

/** The names that the values of a template's placeholders have in the API, in the field `param`. */
export const placeholderParams = (
  template: { readonly variables: ReadonlyArray<string> } | undefined,
  param: string
): ReadonlyArray<string> => template?.variables.map((_, i) => `${param}.bodyParams[${i}]`) ?? []
