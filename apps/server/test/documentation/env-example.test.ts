/**
 * `.env.example`: every variable with its default, commented out.
 *
 * `npx vitest run --project server env-example -u` rewrites it.
 */
import { assert, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { parseEnv } from "node:util"
import * as Variable from "../../src/Variable.ts"

const file = "../../../../.env.example"

type Group = { readonly [name: string]: Variable.Description }

/** JSON is quoted, for shells. */
const quoted = (value: string) => /["{ ]/.test(value) ? `'${value}'` : value

const variable = ([name, { about, default: value = "", kind }]: readonly [name: string, Variable.Description]) => [
  `# ${about}`,
  `#${name}=${quoted(value)}`,
  ...kind === "secret" ? [`#${Variable.fileOf(name)}=`] : []
]

const text = [
  "# The variables of the server, with their defaults. Copy this file to .env, and remove the # of those that you set.",
  "# Load it with `node --env-file=.env`, `docker compose`, `EnvironmentFile=` of systemd, or `set -a; . ./.env` in a shell.",
  "#",
  "# A secret can be in a file instead: NAME_FILE is the path of a file whose content is the value of NAME.",
  "# docs/guides/operating.md describes them all.",
  ...Object.entries<Group>(Variable.groups).flatMap(([title, group]) => [
    "",
    `## ${title}`,
    ...Object.entries(group).flatMap((one) => ["", ...variable(one)])
  ]),
  ""
].join("\n")

it("the table of variables equals .env.example", async () => {
  await expect(text).toMatchFileSnapshot(file)
})

it("the example sets nothing, and without its # each variable has its default", () => {
  const written = readFileSync(new URL(file, import.meta.url), "utf8")
  assert.deepStrictEqual(parseEnv(written), {})
  const set = parseEnv(written.replaceAll(/^#(?=[A-Z]+[A-Z_]*=)/gm, ""))
  assert.sameMembers(Object.keys(set), [...Variable.names, ...Variable.secrets.map(Variable.fileOf)])
  for (const group of Object.values<Group>(Variable.groups)) {
    for (const [name, { default: value = "" }] of Object.entries(group)) assert.strictEqual(set[name], value, name)
  }
})
