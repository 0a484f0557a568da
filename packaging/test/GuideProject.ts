/**
 * A guide as its reader follows it: in a project of its own, from the packages as they are published.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, inject } from "vitest"
import { root } from "../Published.ts"
import { installDeclared } from "./Packages.ts"

/** The project of a guide of `docs/guides`, which is there for the tests of the file. */
export const of = (name: string) => {
  const guide = readFileSync(join(root, "docs/guides", `${name}.md`), "utf8")

  const files = [...guide.matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms)].map(([, name, code]) => [name!, code!] as const)

  /** What the page has its reader install, by `npm install` and by `npm install --save-dev`. */
  const installed = (isDev: boolean) =>
    [...guide.matchAll(/^npm install( --save-dev)? (.+)$/gm)]
      .filter(([, dev]) => (dev !== undefined) === isDev)
      .flatMap(([, , names]) => names!.split(" "))
      .map((name) => [name.replace(/(?<=.)@.*$/, ""), "*"])

  let project: string

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), `wac-${name}-`))
    writeFileSync(
      join(project, "package.json"),
      JSON.stringify({
        type: "module",
        dependencies: Object.fromEntries(installed(false)),
        devDependencies: Object.fromEntries(installed(true))
      })
    )
    installDeclared(inject("packed"), project)
  })
  afterAll(() => rmSync(project, { recursive: true }))

  return {
    guide,
    files,
    /** Writes the page's files, changed as given. */
    write: (changed: (code: string) => string = (code) => code) => {
      for (const [name, code] of files) writeFileSync(join(project, name), changed(code))
    },
    /** What the page has its reader run, by `npx vitest`. */
    commands: [...guide.matchAll(/^npx vitest (.+)$/gm)].map(([, words]) =>
      [...words!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!)
    ),
    /** Runs Vitest; its exit code, and what it has to say. */
    vitest: (...args: ReadonlyArray<string>): Promise<{ readonly code: number; readonly output: string }> =>
      promisify(execFile)(process.execPath, [join(project, "node_modules/vitest/vitest.mjs"), ...args], {
        cwd: project,
        env: { ...process.env, NO_COLOR: "1" }
      }).then(
        ({ stdout }) => ({ code: 0, output: stdout }),
        ({ code, stderr, stdout }) => ({ code, output: `${stdout}${stderr}` })
      )
  }
}
