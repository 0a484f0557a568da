/**
 * Describes what a schema found wrong, for the author of the input. The words name the expected kind of value, never
 * the schema, whose name means nothing to the author. Pure.
 */
import { type SchemaAST, SchemaIssue } from "effect"

/** The input that a schema accepts: `object`, `string`, `"a" | "b"`. */
const expectedOf = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "Objects":
      return "object"
    case "Arrays":
      return "array"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Union":
      return [...new Set(ast.types.map(expectedOf))].join(" | ")
    default:
      return ast._tag.toLowerCase()
  }
}

/**
 * The first issue without a further issue inside it, and the path to it. If no member of a union is a candidate for the
 * value, it is the issue of the union itself.
 */
export const leafOf = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey> = []
): { readonly leaf: SchemaIssue.Issue; readonly path: ReadonlyArray<PropertyKey> } => {
  switch (issue._tag) {
    case "Pointer":
      return leafOf(issue.issue, [...path, ...issue.path])
    case "Composite":
      return leafOf(issue.issues[0], path)
    case "AnyOf":
      return issue.issues[0] === undefined ? { leaf: issue, path } : leafOf(issue.issues[0], path)
    case "Filter":
    case "Encoding":
      return leafOf(issue.issue, path)
    default:
      return { leaf: issue, path }
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** {@link leafOf} in words, without any value, and the path to it. */
export const firstOf = (
  issue: SchemaIssue.Issue
): { readonly message: string; readonly path: ReadonlyArray<PropertyKey> } => {
  const { leaf, path } = leafOf(issue)
  const isUnworded = (leaf._tag === "InvalidType" || leaf._tag === "AnyOf") &&
    leaf.ast.annotations?.["message"] === undefined
  const message = isUnworded
    ? `Expected ${expectedOf(leaf.ast)}`
    : format(issue).issues[0]?.message ?? "Is not valid"
  return { message: message.replace(/, got .*$/s, ""), path }
}
