/**
 * The names of all fields that the API defines in request bodies. Records of requests keep only these names (contract
 * §17, core's `BodyShape`): any other name is the caller's own text, and may be customer data.
 */
import { type Schema, SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../Api.ts"

const collect = (ast: SchemaAST.AST, names: Set<string>, seen: Set<SchemaAST.AST>): void => {
  if (seen.has(ast)) return
  seen.add(ast)
  if (SchemaAST.isSuspend(ast)) collect(ast.thunk(), names, seen)
  if (SchemaAST.isUnion(ast)) { for (const type of ast.types) collect(type, names, seen) }
  if (SchemaAST.isArrays(ast)) { for (const type of [...ast.elements, ...ast.rest]) collect(type, names, seen) }
  if (!SchemaAST.isObjects(ast)) return
  for (const { name, type } of ast.propertySignatures) {
    if (typeof name === "string") names.add(name)
    collect(type, names, seen)
  }
  for (const { type } of ast.indexSignatures) collect(type, names, seen)
}

const search = (): ReadonlySet<string> => {
  const names = new Set<string>()
  const seen = new Set<SchemaAST.AST>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      for (const codec of endpoint.payload.get("application/json")?.schemas ?? []) {
        // a codec for JSON has the schema that it was made from
        const { ast } = "schema" in codec ? codec.schema as Schema.Top : codec
        collect(SchemaAST.toEncoded(ast), names, seen)
      }
    }
  })
  return names
}

let found: ReadonlySet<string> | undefined

/** Returns the names. Only the first call walks through the definition of the API, which takes milliseconds. */
export const find = (): ReadonlySet<string> => found ??= search()
