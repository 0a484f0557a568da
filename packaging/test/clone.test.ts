/**
 * The clone, as README has a stranger install, start and pack it.
 */
import * as Clone from "@wac/testbed/Clone"
import * as Extent from "@wac/testbed/Extent"
import * as FreePort from "@wac/testbed/FreePort"
import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it, onTestFinished } from "vitest"
import { folders, isBundled, isRequirable, manifestOf, root, vendoredIn } from "../Published.ts"

const run = promisify(execFile)

/** A copy of what the repository tracks. */
const clone = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "wac-clone-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root })
  for (const file of files.toString().split("\0").filter((file) => file !== "")) {
    cpSync(join(root, file), join(folder, file), { recursive: true })
  }
  return folder
}

describe("npm ci", () => {
  it("npm ci on Node 20 does not warn of an old Node, since everything runs on the Node that it installs", async () => {
    // npm judges by this alone
    const posing = "--import=data:text/javascript,Object.defineProperty(process,'version',{value:'v20.20.2'})"
    const { stderr, stdout } = await run("npm", ["ci", "--dry-run"], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: posing }
    })
    assert.notInclude(stderr + stdout, "EBADENGINE")
  })
})

describe("npm start", () => {
  // npm installs all of it in the full form; the short form links what npm would install
  const installs = Extent.of([false], [false, true])

  it.each(installs)(
    "npm start runs with the dependencies alone, without those of development (by npm: %j)",
    Clone.needed,
    async (isByNpm) => {
      const folder = clone()
      if (isByNpm) await run("npm", ["ci", "--omit=dev", "--prefer-offline", "--no-audit"], { cwd: folder })
      else Clone.linkDependencies(root, folder)
      const port = await FreePort.find()
      // a PATH without this repository's own Node
      const path = process.env["PATH"]!.split(":").filter((each) => !each.includes("node_modules")).join(":")
      const child = spawn("npm", ["start"], {
        cwd: folder,
        env: { PATH: path, HOME: process.env["HOME"], PORT: `${port}`, DATABASE_URL: "memory:", LOG_FORMAT: "json" },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true
      })
      const exited = once(child, "exit")
      onTestFinished(() => {
        if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, "SIGKILL")
      })
      let output = ""
      await new Promise<void>((resolve, reject) => {
        const take = (chunk: Buffer) => {
          output += chunk.toString()
          if (output.includes("listening on ")) resolve()
        }
        child.stdout.on("data", take)
        child.stderr.on("data", take)
        void exited.then(() => reject(new Error(output)))
      })
      assert.strictEqual((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
      process.kill(-child.pid!, "SIGTERM")
      await exited
    }
  )
})

describe("npm pack", () => {
  it("npm pack builds first, so that a package of an unbuilt clone has more than sources", async () => {
    const folder = mkdtempSync(join(tmpdir(), "wac-unbuilt-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const place = join(folder, "packages/client")
    cpSync(join(root, "packages/client"), place, { recursive: true, filter: (path) => !/\/(dist|test)$/.test(path) })
    cpSync(join(root, "tsconfig.base.json"), join(folder, "tsconfig.base.json"))
    cpSync(join(root, "packaging"), join(folder, "packaging"), { recursive: true })
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir")
    const { stdout } = await run("npm", ["pack", "--json"], { cwd: place })
    const { files } = Object.values(JSON.parse(stdout))[0] as {
      readonly files: ReadonlyArray<{ readonly path: string }>
    }
    const paths = files.map(({ path }) => path)
    for (const built of ["dist/index.js", "dist/index.d.ts", "dist/internal.js", "dist/cjs/index.cjs"]) {
      assert.include(paths, built)
    }
  })

  it("npm pack builds each package that is published, but for those that are published from a folder that a build writes", () => {
    for (const [name, folder] of folders) {
      const manifest = manifestOf(folder)
      if (isBundled(manifest)) continue
      const { scripts } = manifest as { readonly scripts?: { readonly prepack?: string } }
      const pages = name === "@wac/http" ? " && node ../../apps/dashboard/build.ts" : ""
      const required = isRequirable(manifest) ? " && node ../../packaging/commonjs.ts" : ""
      const vendored = vendoredIn(manifest).length > 0 ? " && node ../../packaging/vendored.ts" : ""
      assert.strictEqual(scripts?.prepack, `tsc -b${pages}${required}${vendored}`, name)
    }
  })
})

describe("an upgrade of a clone", () => {
  it(
    "the guide's commands put each version into a folder of its own, leave the running one as it is, and remove an older one",
    Clone.needed,
    async () => {
      const guide = readFileSync(join(root, "docs/guides/upgrade.md"), "utf8")
      const [commands, removal] = [...guide.matchAll(/^```sh in="a clone"\n(.*?)^```$/gms)].map(([, code]) => code!)
      const folder = mkdtempSync(join(tmpdir(), "wac-upgraded-clone-"))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const [theirs, ours] = [join(folder, "theirs"), join(folder, "wac")]
      const env = {
        PATH: process.env["PATH"]!,
        HOME: folder,
        ...Object.fromEntries(["AUTHOR", "COMMITTER"].flatMap((who) => [
          [`GIT_${who}_NAME`, "wac"],
          [`GIT_${who}_EMAIL`, "wac@example.com"]
        ]))
      }
      const bash = async (script: string, cwd: string): Promise<string> =>
        (await run("bash", ["-euc", script], { cwd, env })).stdout
      const publish = (version: string) =>
        bash(`echo ${version} >version && git add version && git commit --quiet --message=${version}`, theirs)
      await bash("git init --quiet --initial-branch=main theirs", folder)
      await publish("1")
      await bash("git clone --quiet theirs wac", folder)
      await publish("2")
      const next = (await bash(`${commands}\npwd`, ours)).trim().split("\n").at(-1)!
      assert.notStrictEqual(next, ours)
      assert.strictEqual(readFileSync(join(ours, "version"), "utf8"), "1\n")
      assert.strictEqual(readFileSync(join(next, "version"), "utf8"), "2\n")

      await publish("3")
      const last = (await bash(`${commands}\npwd`, ours)).trim().split("\n").at(-1)!
      await bash(removal!.replace(/^OLD=.*$/m, `OLD=${/[0-9a-f]+$/.exec(next)![0]}`), ours)
      assert.isFalse(existsSync(next))
      assert.strictEqual(await bash("git status --porcelain && cat version", last), "3\n")
    }
  )
})
