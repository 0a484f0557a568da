/**
 * Describes which part of a request is wrong, from the issue that its schema found: the first offending field by its
 * name on the wire (contract §2). Values are never echoed.
 */
import { Errors, FieldPath, PlainText, RepeatedField, SchemaWords } from "@wac/core"
import { Predicate, SchemaAST, type SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"

/** The maximum length of an unknown field's name, which comes from the caller: enough to recognise it. */
const maxParamLength = 200

/** The name of a part of a request, as `param` has it: `template.buttons[0].flowData`. */
export const paramOf = (path: ReadonlyArray<PropertyKey>): string => FieldPath.of(path).slice(0, maxParamLength)

const isKind = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isObjects(ast) && ast.propertySignatures.some(({ name }) => name === "type")

/** The permitted values of the field `type`, in the order of the schema. */
const kindsOf = (types: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<string> =>
  types.flatMap((ast) =>
    SchemaAST.isObjects(ast)
      ? ast.propertySignatures.flatMap(({ name, type }) => name === "type" ? wordsOf(type) ?? [] : [])
      : []
  )

/** The values of an enumeration; `undefined` for a schema that accepts anything else. */
const wordsOf = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  if (SchemaAST.isLiteral(ast)) return [String(ast.literal)]
  if (!SchemaAST.isUnion(ast)) return undefined
  const each = ast.types.map(wordsOf)
  return each.every((words) => words !== undefined) ? each.flat() : undefined
}

const listed = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`

const invalid = (reason: Errors.InvalidBody["reason"], param: string, message: string) =>
  new Errors.InvalidBody({ reason, ...(param === "" ? {} : { param }), message })

/** The value at a path. */
const valueAt = (input: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>((value, key) => Predicate.hasProperty(value, key) ? value[key] : undefined, input)

/** A part of a request that did not decode, and its schema's issue. */
export interface Problem {
  readonly kind: HttpApiError.HttpApiSchemaError["kind"]
  readonly issue: SchemaIssue.Issue
}

const onlyOnce = (param: string) => invalid("invalid_field", param, `${param} must be given once`)

/** The error for a body in which an object has a field twice; `undefined` if none has. */
export const repeated = (json: string): Errors.InvalidBody | undefined => {
  const path = RepeatedField.find(json)
  return path === undefined ? undefined : onlyOnce(paramOf(path))
}

const notAnObject = invalid("invalid_field", "", "the body must be a JSON object")

/**
 * The error for a request part that did not decode. For a `Payload`, `input` is the body, and for a `Query` its
 * parameters; a parameter that is given more than once is an array there.
 */
export const of = (error: Problem, input: unknown): Errors.InvalidBody => {
  if (error.kind === "Payload" && !Predicate.isObject(input)) return notAnObject
  const { leaf, path } = SchemaWords.leafOf(error.issue)
  const param = paramOf(path)
  // no parameter is a list, so the schema's issue would only be that an array is not text
  if (error.kind === "Query" && path.length === 1 && Array.isArray(valueAt(input, path))) {
    return onlyOnce(param)
  }
  switch (leaf._tag) {
    case "MissingKey":
      return invalid("missing_field", param, `${param} is required`)
    case "UnexpectedKey": {
      const issue = PlainText.issueOf(param)
      if (issue !== undefined) return invalid("invalid_field", param, `a field's name ${issue}`)
      return error.kind === "Query"
        ? invalid("unknown_field", param, `there is no query parameter ${param} here`)
        : invalid("unknown_field", param, `there is no field ${param} here`)
    }
    case "AnyOf": {
      // no member of a union fits; unions of objects with a field `type` get a message about that field
      const enumerated = wordsOf(leaf.ast)
      if (enumerated !== undefined) return invalid("invalid_field", param, `${param} must be ${listed(enumerated)}`)
      if (!leaf.ast.types.every(isKind)) return inWords(error, param)
      const given = valueAt(input, path)
      if (!Predicate.isObject(given)) {
        return invalid("invalid_field", param, `${param === "" ? "the body" : param} must be a JSON object`)
      }
      const type = paramOf([...path, "type"])
      return Predicate.hasProperty(given, "type")
        ? invalid("invalid_field", type, `${type} must be ${listed(kindsOf(leaf.ast.types))}`)
        : invalid("missing_field", type, `${type} is required`)
    }
    default: {
      const only = leaf._tag === "InvalidType" ? wordsOf(leaf.ast) : undefined
      if (only !== undefined) return invalid("invalid_field", param, `${param} must be ${listed(only)}`)
      return inWords(error, param)
    }
  }
}

const inWords = (error: Problem, param: string): Errors.InvalidBody => {
  const { message } = SchemaWords.firstOf(error.issue)
  const inside = `${message.charAt(0).toLowerCase()}${message.slice(1)}`
  return invalid("invalid_field", param, param === "" ? inside : `${param}: ${inside}`)
}
