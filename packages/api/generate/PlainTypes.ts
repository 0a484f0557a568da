/**
 * Writes the types of the wire in plain TypeScript, for packages that depend on nothing: an interface for every struct
 * with an `identifier`, a type for every union with one, each with its `description` as its docstring. What a schema
 * decodes to does not matter; its encoded form is written. Pure.
 */
import { type Schema, SchemaAST } from "effect"

/**
 * Where types are used: in bodies of requests and responses, in a client's queries, in a program that embeds the
 * service, or in the interface of programs. For embedding, a type with `embedded: "Name"` has that name, and fields with
 * `embedded: false` are left out. The interface has its own names: fields of a struct are in camelCase unless the
 * struct has `asOnWire: true`.
 */
export type Use = "body" | "query" | "embedded" | "interface"

/** The types that are accepted for a time. */
const times: Readonly<Record<Use, string>> = {
  body: "string",
  query: "string | Date",
  embedded: "TimeInput",
  interface: "TimeInput"
}

/** The types that the interface of programs names otherwise than the wire does. */
const interfaceNames: Readonly<Record<string, string>> = {
  SendMessage: "NewMessage",
  Media: "StoredFile",
  CreatePublicCampaign: "NewCampaign",
  EditPublicCampaign: "CampaignChange",
  TemplateQuery: "TemplateFilter",
  CampaignQuery: "CampaignFilter",
  CampaignRowQuery: "CampaignRowFilter"
}

/** Fields whose name in the interface is another word. */
export const renamedFields: Readonly<Record<string, string>> = { tenant_id: "workspaceId", media_id: "id" }

/** The name of a field in the interface of programs. */
const camelCase = (name: string): string =>
  renamedFields[name] ?? name.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase())

/** Fields that the interface of programs has in another place: lists take them when they are read. */
const pageFields = new Set(["limit", "cursor"])

/** Types by name, in the order in which they are first mentioned. */
export type Types = ReadonlyMap<string, SchemaAST.AST>

/** The encoded form of a schema. */
export const encoded = (schema: Schema.Constraint): SchemaAST.AST => SchemaAST.toEncoded(schema.ast)

const annotation = (ast: SchemaAST.AST, key: string): unknown =>
  SchemaAST.resolve(ast)?.[key] ?? ast.annotations?.[key] ??
    ast.checks?.map((check) => check.annotations?.[key]).find((value) => value !== undefined)

const isComposite = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isObjects(ast) || SchemaAST.isUnion(ast) || SchemaAST.isArrays(ast)

/** The name of a type. Texts and numbers have none: their forms are not types. */
const nameOf = (ast: SchemaAST.AST, use: Use): string | undefined => {
  if (!isComposite(ast)) return undefined
  const embedded = use === "embedded" ? annotation(ast, "embedded") : undefined
  const name = typeof embedded === "string" ? embedded : annotation(ast, "identifier") as string | undefined
  return use === "interface" && name !== undefined ? interfaceNames[name] ?? name.replace("Public", "") : name
}

/** Whether programs that embed the service use the type. */
export const isEmbedded = (ast: SchemaAST.AST): boolean => Boolean(annotation(ast, "embedded"))

/** The types of which a type is written as the intersection, in place of its own members or fields. */
const intersected = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> | undefined =>
  (annotation(ast, "intersection") as ReadonlyArray<Schema.Top> | undefined)?.map(encoded)

const partsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  const parts = intersected(ast)
  if (parts !== undefined) return parts
  if (SchemaAST.isUnion(ast)) return ast.types
  if (SchemaAST.isArrays(ast)) return [...ast.elements, ...ast.rest]
  if (!SchemaAST.isObjects(ast)) return []
  return [...ast.propertySignatures.map(({ type }) => type), ...ast.indexSignatures.map(({ type }) => type)]
}

/** Every named type that these contain, themselves included. Throws if two different types have one name. */
export const typesIn = (roots: Iterable<SchemaAST.AST>, use: Use = "body"): Types => {
  const types = new Map<string, SchemaAST.AST>()
  const add = (ast: SchemaAST.AST): void => {
    const name = nameOf(ast, use)
    if (name !== undefined) {
      const known = types.get(name)
      if (known !== undefined) {
        if (known !== ast && declaration(name, known, use) !== declaration(name, ast, use)) {
          throw new Error(
            `two types are named ${name}:\n${declaration(name, known, use)}\n${declaration(name, ast, use)}`
          )
        }
        return
      }
      types.set(name, ast)
    }
    partsOf(ast).forEach(add)
  }
  for (const root of roots) add(root)
  return types
}

/** Maximum width of a line. */
export const width = 120

const indented = (text: string): string => text.replaceAll("\n", "\n  ")

/** A space before what begins on the same line. */
const spaced = (text: string): string => text.startsWith("\n") ? text : ` ${text}`

/** A docstring, in as many lines as it needs at this indentation. */
export const docstring = (text: string | undefined, indentation: number): string => {
  if (text === undefined) return ""
  if (!/[.:!?]$/u.test(text)) return docstring(`${text}.`, indentation)
  const margin = " ".repeat(indentation)
  const one = `${margin}/** ${text} */\n`
  if (one.length <= width && !text.includes("\n")) return one
  const lines = text.split("\n").flatMap((paragraph) =>
    paragraph.split(" ").reduce<ReadonlyArray<string>>((lines, word) => {
      const last = lines.at(-1)
      return last === undefined || margin.length + 3 + last.length + 1 + word.length > width
        ? [...lines, word]
        : [...lines.slice(0, -1), `${last} ${word}`]
    }, [])
  )
  return `${margin}/**\n${lines.map((line) => `${margin} * ${line}\n`).join("")}${margin} */\n`
}

const key = (name: PropertyKey): string => /^[a-z_$][\w$]*$/iu.test(String(name)) ? String(name) : JSON.stringify(name)

/** The description of a field, or that of its type if the type has no name of its own. */
const descriptionOf = (type: SchemaAST.AST): string | undefined =>
  (type.context?.annotations?.["description"] ??
    (annotation(type, "identifier") === undefined ? annotation(type, "description") : undefined)) as string | undefined

const fields = (ast: SchemaAST.Objects, use: Use): string => {
  const isCamel = use === "interface" && annotation(ast, "asOnWire") !== true
  const used = ast.propertySignatures.filter(({ name, type }) =>
    (use !== "embedded" || annotation(type, "embedded") !== false) &&
    (use !== "interface" || !pageFields.has(String(name)))
  )
  const own = used.map(({ name, type }) =>
    `${docstring(descriptionOf(type), 2)}  readonly ${key(isCamel ? camelCase(String(name)) : name)}${
      SchemaAST.isOptional(type) ? "?" : ""
    }:${spaced(indented(typeText(type, use)))}\n`
  )
  // a field's own type is not one of the others'
  const others = ast.indexSignatures.map(({ type }) =>
    `  readonly [field: string]:${own.length > 0 ? " unknown" : spaced(indented(typeText(type, use)))}\n`
  )
  return own.length + others.length === 0 ? "{}" : `{\n${[...own, ...others].join("")}}`
}

const union = (members: ReadonlyArray<string>): string => {
  const line = members.join(" | ")
  return line.length <= 90 && !line.includes("\n") || members.filter((member) => member !== "null").length === 1
    ? line
    : members.map((member) => `\n  | ${indented(member)}`).join("")
}

const array = (ast: SchemaAST.Arrays, use: Use): string => {
  const [rest] = ast.rest
  if (rest !== undefined) return `ReadonlyArray<${typeText(rest, use)}>`
  return `readonly [${ast.elements.map((element) => typeText(element, use)).join(", ")}]`
}

/** The type, written out where it has no name. */
const written = (ast: SchemaAST.AST, use: Use): string => {
  const parts = intersected(ast)
  if (parts !== undefined) return parts.map((part) => typeText(part, use)).join(" & ")
  switch (ast._tag) {
    case "Objects": {
      const page = annotation(ast, "page")
      if (typeof page !== "string") return fields(ast, use)
      const data = ast.propertySignatures.find(({ name }) => name === "data")!.type as SchemaAST.Arrays
      return `${page}<${typeText(data.rest[0]!, use)}>`
    }
    case "Union":
      return union([...new Set(ast.types.map((member) => typeText(member, use)))])
    case "Arrays":
      return array(ast, use)
    case "Literal":
      return JSON.stringify(ast.literal)
    case "String":
      return (annotation(ast, "plainType") as string | undefined) ??
        (annotation(ast, "takesDate") === true ? times[use] : "string")
    case "Number":
      return "number"
    case "Boolean":
      return "boolean"
    case "Null":
      return "null"
    case "Void":
    case "Undefined":
      return "undefined"
    case "Declaration":
      return "Json"
    default:
      throw new Error(`there is no plain type for ${ast._tag}`)
  }
}

/** The type as it is mentioned: its name if it has one. */
export const typeText = (ast: SchemaAST.AST, use: Use = "body"): string => nameOf(ast, use) ?? written(ast, use)

/** The declaration of a named type, with its docstring. */
export const declaration = (name: string, ast: SchemaAST.AST, use: Use = "body"): string => {
  const doc = docstring(annotation(ast, "description") as string | undefined, 0)
  const text = written(ast, use)
  return SchemaAST.isObjects(ast) && text.startsWith("{")
    ? `${doc}export interface ${name} ${text}\n`
    : `${doc}export type ${name} =${spaced(text)}\n`
}
