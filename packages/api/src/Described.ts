/**
 * Functions that describe the encoded form of fields and schemas.
 */
import { Schema, SchemaAST } from "effect"

/**
 * Describes the encoded form of a field whose schema decodes. `annotateKey` alone would describe the decoded form,
 * which documents do not show. The schema keeps its name.
 */
export const described = (description: string) => <S extends Schema.Top>(field: S): S["Rebuild"] =>
  Schema.flip(Schema.flip(field).annotateKey({ description }))

/** Gives a field the description of another field, which has the same meaning in a different form. */
export const meaningOf = (original: Schema.Top) => <S extends Schema.Top>(field: S): S["Rebuild"] =>
  field.annotate({ description: SchemaAST.resolveDescription(original.ast) })

/** Gives a schema's encoded form all annotations of another schema, such as its name and description. */
export const describedAs = (described: Schema.Top) => <S extends Schema.Top>(schema: S): S["Rebuild"] =>
  schema.pipe(Schema.annotateEncoded(SchemaAST.resolve(described.ast) ?? {}))
