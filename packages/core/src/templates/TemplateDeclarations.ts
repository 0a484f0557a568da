/**
 * The declaration by which TypeScript knows an account's templates (contract §16). Pure.
 */
import type { Template } from "./Template.ts"

type Declared = Pick<Template, "language" | "name" | "parameterFormat" | "status" | "unfillable" | "variables">

const value = "TemplateValue"

const bodyOf = ({ parameterFormat, variables }: Declared): string => {
  const inOrder = `readonly [${variables.map(() => value).join(", ")}]`
  if (variables.length === 0) return `{ readonly bodyParams?: ${inOrder} }`
  const named = variables.map((name) => `readonly ${JSON.stringify(name)}: ${value}`).join("; ")
  return `{ readonly bodyParams: ${inOrder}${parameterFormat === "named" ? ` | { ${named} }` : ""} }`
}

const grouped = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string): ReadonlyArray<readonly [string, Array<A>]> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) groups.set(keyOf(one), [...groups.get(keyOf(one)) ?? [], one])
  // so that a template that is synced again changes no line
  return [...groups].sort(([a], [b]) => a < b ? -1 : 1)
}

/**
 * A module that declares the approved templates, which `wac` then requires in `send` and `enqueue`. Sorted, and the same
 * for the same templates.
 */
export const of = (templates: ReadonlyArray<Declared>): string => {
  const sendable = templates.filter(({ status, unfillable }) => status === "approved" && unfillable === null)
  const lines = grouped(sendable, ({ name }) => name).flatMap(([name, ofName]) => [
    `    readonly ${JSON.stringify(name)}: {`,
    ...grouped(ofName, ({ language }) => language).map(([language, same]) =>
      // two accounts may have templates of the same name
      `      readonly ${JSON.stringify(language)}: ${[...new Set(same.map(bodyOf))].sort().join(" | ")}`
    ),
    "    }"
  ])
  return [
    "// Written by `wac templates types`; do not edit.",
    ...(lines.some((line) => line.includes(value))
      ? [`import type { ${value} } from "wac"`, ""]
      : ["import \"wac\"", ""]),
    "declare module \"wac\" {",
    "  interface AccountTemplates {",
    ...lines,
    "  }",
    "}",
    ""
  ].join("\n")
}
