/**
 * Descriptions of fields that are decoded.
 */
import { Schema } from "effect"

/**
 * Says what a field means, for a schema that decodes: `annotateKey` would say it of what is decoded, and nobody outside
 * sees that. The schema keeps its name.
 */
export const described = (description: string) => <S extends Schema.Top>(field: S): S["Rebuild"] =>
  Schema.flip(Schema.flip(field).annotateKey({ description }))
