/**
 * Descriptions of fields and schemas, for their encoded form.
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

/** Says of a schema's encoded form what is said of another schema: its name and everything else. */
export const describedAs = (described: Schema.Top) => <S extends Schema.Top>(schema: S): S["Rebuild"] =>
  schema.pipe(Schema.annotateEncoded(SchemaAST.resolve(described.ast) ?? {}))
