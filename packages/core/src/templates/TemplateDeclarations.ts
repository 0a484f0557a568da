/**
 * Generates a TypeScript module that declares a workspace's templates, so that the compiler checks sends of templates
 * (contract §16). Pure.
 */
import type { Template } from "./Template.ts"
import * as TemplateSlots from "./TemplateSlots.ts"

type Declared = Pick<Template, "category" | "components" | "language" | "name" | "parameterFormat" | "status">

const object = (fields: ReadonlyArray<readonly [name: number | string, type: string]>): string =>
  `{ ${fields.map(([name, type]) => `readonly ${name}: ${type}`).join("; ")} }`

/** The fields of the buttons whose value is required, or of those whose value is optional, by the button's index. */
const buttonsOf = (name: string, slots: TemplateSlots.TemplateSlots, isRequired: boolean) => {
  const fields = slots.buttons.flatMap((slot, index) =>
    slot.kind === "value" && slot.isRequired === isRequired
      ? [[index, JSON.stringify(slot.field)] as const]
      : slot.kind === "handover" && !isRequired
      ? [[index, "\"code\""] as const]
      : []
  )
  return fields.length === 0 ? [] : [[name, object(fields)] as const]
}

const typeOf = (slots: TemplateSlots.TemplateSlots, { parameterFormat }: Declared): string =>
  object([
    ["body", `readonly [${slots.body.map((name) => JSON.stringify(name)).join(", ")}]`],
    ...(parameterFormat === "named" && slots.body.length > 0 ? [["isNamed", "true"] as const] : []),
    ...(slots.header === null ? [] : [["header", JSON.stringify(slots.header.kind)] as const]),
    ...buttonsOf("buttons", slots, true),
    ...buttonsOf("optionalButtons", slots, false),
    ...(slots.cards === null ? [] : [["hasCards", "true"] as const]),
    ...(slots.offer ? [["hasOffer", "true"] as const] : [])
  ])

const grouped = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string): ReadonlyArray<readonly [string, Array<A>]> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) groups.set(keyOf(one), [...groups.get(keyOf(one)) ?? [], one])
  // sorted, so that the text does not change with the order in which templates were synchronized
  return [...groups].sort(([a], [b]) => a < b ? -1 : 1)
}

const extended = (module: string): ReadonlyArray<string> => [
  "",
  "// @ts-ignore: a program may have only some of these packages",
  `declare module "${module}" {`,
  "  interface AccountTemplates extends Templates {}",
  "}"
]

/**
 * The text of a module that declares the approved templates for `wac`, `@wac/effect/promises` and `@wac/client`, of
 * which a program may have only some. With it, their `send` and `enqueue` accept only these templates. The text is
 * sorted: the same templates give the same text.
 */
export const of = (templates: ReadonlyArray<Declared>): string => {
  const sendable = templates.flatMap((template) => {
    const slots = TemplateSlots.of(template)
    return template.status === "approved" && slots.impossible === null
      ? [{ ...template, type: typeOf(slots, template) }]
      : []
  })
  const lines = grouped(sendable, ({ name }) => name).flatMap(([name, ofName]) => [
    `  readonly ${JSON.stringify(name)}: {`,
    ...grouped(ofName, ({ language }) => language).map(([language, same]) =>
      // two accounts may have templates of the same name
      `    readonly ${JSON.stringify(language)}: ${[...new Set(same.map(({ type }) => type))].sort().join(" | ")}`
    ),
    "  }"
  ])
  return [
    "// Written by `wac templates types`; do not edit.",
    "interface Templates {",
    ...lines,
    "}",
    ...extended("wac"),
    ...extended("@wac/effect/promises"),
    ...extended("@wac/client"),
    "",
    "export {}",
    ""
  ].join("\n")
}
