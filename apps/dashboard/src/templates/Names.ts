/** Converts a text to the form of template names. Pure. */

/**
 * A text in lower case, with `_` for spaces and hyphens: `Order update` becomes `order_update`. Other characters stay.
 */
export const asName = (text: string): string => text.toLowerCase().replaceAll(/[\s-]+/g, "_")
