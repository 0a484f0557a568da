/**
 * What a schema found wrong, in words for who wrote the input: they name what is expected, and never a schema, whose
 * name says nothing to them. Pure.
 */
import { type SchemaAST, SchemaIssue } from "effect"

/** What a schema takes: `object`, `string`, `"a" | "b"`. */
export const expectedOf = (ast: SchemaAST.AST): string => {
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

/** Whether a schema has no message of its own. */
export const isUnworded = (ast: SchemaAST.AST): boolean => ast.annotations?.["message"] === undefined

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "InvalidType" && isUnworded(issue.ast)
      ? `Expected ${expectedOf(issue.ast)}`
      : SchemaIssue.defaultLeafHook(issue)
})

/** The first thing that is wrong, without any value, and the path to it. */
export const firstOf = (
  issue: SchemaIssue.Issue
): { readonly message: string; readonly path: ReadonlyArray<PropertyKey> } => {
  const [first] = format(issue).issues
  return {
    message: (first?.message ?? "Is not valid").replace(/, got .*$/s, ""),
    path: (first?.path ?? []).map((key) => typeof key === "object" ? key.key : key)
  }
}
