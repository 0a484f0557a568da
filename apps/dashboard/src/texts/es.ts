/** The portal's texts in Spanish. */
import type { Catalogue } from "../ui/Language.ts"

export const texts: Catalogue = {}
