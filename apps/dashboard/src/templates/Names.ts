/** Names of templates, which have few letters. Pure. */

/** A text in the letters that a name can have: `Order update` becomes `order_update`. */
export const asName = (text: string): string => text.toLowerCase().replaceAll(/[\s-]+/g, "_")
