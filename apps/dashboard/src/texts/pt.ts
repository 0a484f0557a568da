/** The portal's texts in Portuguese, as it is written in Brazil. */
import type { Catalogue } from "../ui/Language.ts"

export const texts: Catalogue = {}
