/**
 * Descriptions of fields.
 */
import { Schema, SchemaAST } from "effect"

/**
 * Says what a field means, for a schema that decodes: `annotateKey` would say it of what is decoded, and nobody outside
 * sees that. The schema keeps its name.
 */
export const described = (description: string) => <S extends Schema.Top>(field: S): S["Rebuild"] =>
  Schema.flip(Schema.flip(field).annotateKey({ description }))

/** Gives a field the description of the one in whose place it is, which has the same meaning in another form. */
export const meaningOf = (original: Schema.Top) => <S extends Schema.Top>(field: S): S["Rebuild"] =>
  field.annotate({ description: SchemaAST.resolveDescription(original.ast) })
