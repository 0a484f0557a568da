/**
 * The container file: linted, and its steps carried out as a script by a user who is not root, in a clean copy of the
 * repository, since no container engine is needed to hold that they work. In the short form, what `npm ci` installs is
 * linked; in the long form (`npm run long -- container`) npm installs it.
 */
import * as Clone from "@wac/testbed/Clone"
import * as Extent from "@wac/testbed/Extent"
import * as FreePort from "@wac/testbed/FreePort"
import { isOpen } from "@wac/testbed/OpenDirectory"
import { DockerfileParser } from "dockerfile-ast"
import { validate } from "dockerfile-utils"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import { root } from "../../Published.ts"

const text = readFileSync(join(root, "deploy/Containerfile"), "utf8")

interface Step {
  readonly name: string
  readonly args: string
}

/** The steps of each stage; the first of a stage is FROM. */
const stages: ReadonlyArray<ReadonlyArray<Step>> = DockerfileParser.parse(text).getInstructions()
  .map((instruction): Step => ({
    name: instruction.getInstruction(),
    args: instruction.getTextContent().replace(/^\w+ /, "")
  }))
  .reduce<Array<Array<Step>>>(
    (stages, step) => step.name === "FROM" ? [...stages, [step]] : [...stages.slice(0, -1), [...stages.at(-1)!, step]],
    []
  )
const [build, final] = stages as readonly [ReadonlyArray<Step>, ReadonlyArray<Step>]
const argsOf = (name: string): ReadonlyArray<string> =>
  final.filter((step) => step.name === name).map(({ args }) => args)

const nobody = 65_534
/** What is installed is linked, and another user can reach it only in a clone that is not closed. */
const isNobody = process.getuid?.() === 0 && isOpen(root)
const as = isNobody ? { uid: nobody, gid: nobody } : {}
const own = (path: string): void => {
  if (isNobody) lchownSync(path, nobody, nobody)
}

/** What the build's context is, in a directory of the user's. */
const copyContext = (to: string): void => {
  mkdirSync(to)
  const ignored = readFileSync(join(root, ".dockerignore"), "utf8").split("\n").filter((line) => /^[a-z]/.test(line))
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root })
    .toString().split("\0")
  for (const file of files) {
    if (file === "" || ignored.some((folder) => file.startsWith(`${folder}/`)) || !existsSync(join(root, file))) {
      continue
    }
    cpSync(join(root, file), join(to, file), { recursive: true })
  }
}

/** What `npm ci` installs, by links; our own packages are those of the copy. */
const linkInstalled = (to: string): void => {
  const { packages }: { readonly packages: Record<string, { readonly link?: boolean; readonly resolved?: string }> } =
    JSON.parse(readFileSync(join(to, "package-lock.json"), "utf8"))
  for (const [place, { link = false, resolved }] of Object.entries(packages)) {
    if (place.lastIndexOf("node_modules/") < 0 || !existsSync(join(root, place)) || existsSync(join(to, place))) {
      continue
    }
    // a nested package comes with the one that it is in, but for those of our own folders
    if (place.startsWith("node_modules/") && place.lastIndexOf("node_modules/") > 0) continue
    mkdirSync(dirname(join(to, place)), { recursive: true })
    symlinkSync(link ? join(to, resolved!) : join(root, place), join(to, place), "dir")
  }
}

/** A PATH with the Node of this process, which the user may run, and nothing of this repository. */
const pathIn = (directory: string): string => {
  const bin = join(directory, "bin")
  mkdirSync(bin)
  copyFileSync(process.execPath, join(bin, "node"))
  return [bin, ...process.env["PATH"]!.split(delimiter).filter((place) => !place.includes("node_modules"))]
    .join(delimiter)
}

describe("the container file", () => {
  it("has nothing that a linter warns of", () => {
    assert.deepEqual(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`), [])
  })

  it("ends in a stage that builds nothing, runs as a user who is not root, and tells whether it is healthy", () => {
    assert.strictEqual(stages.length, 2)
    for (const [from] of stages) assert.match(from!.args, /^node:24-[a-z-]+ AS \w+$/)
    assert.notMatch(argsOf("RUN").join(), /npm|apk|apt/)
    assert.deepEqual(argsOf("USER"), ["node"])
    assert.match(argsOf("HEALTHCHECK")[0]!, /\/healthz/)
    assert.match(argsOf("ENTRYPOINT")[0]!, /^\["node", /)
  })

  const installs = Extent.of([false], [false, true])

  it.each(installs)(
    `its steps, by ${
      isNobody ? "a user who is not root" : "the tests' user"
    }, make a server that is healthy (by npm: %j)`,
    Clone.needed,
    async (isByNpm) => {
      const directory = mkdtempSync(join(tmpdir(), "wac-container-"))
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
      chmodSync(directory, 0o755)
      const PATH = pathIn(directory)
      const [src, app, home] = ["src", "app", "home"].map((name) => join(directory, name)) as [string, string, string]
      copyContext(src)
      if (!isByNpm) linkInstalled(src)
      for (const place of [app, home, join(directory, "tmp")]) {
        mkdirSync(place)
        own(place)
      }
      own(src)
      if (isNobody) { for (const name of readdirSync(src, { recursive: true, encoding: "utf8" })) own(join(src, name)) }
      const placed = (command: string): string =>
        command.replaceAll("/app", app).replaceAll("/data", join(directory, "data")).replaceAll("/src", src)
      const sh = (command: string, cwd: string, env: NodeJS.ProcessEnv = {}): string =>
        execFileSync("sh", ["-euc", command], {
          cwd,
          env: { PATH, HOME: home, TMPDIR: join(directory, "tmp"), npm_config_loglevel: "error", ...env },
          encoding: "utf8",
          stdio: ["ignore", "pipe", "pipe"],
          ...as
        })

      for (const { args, name } of build) {
        if (name === "RUN" && (isByNpm || !args.startsWith("npm ci"))) sh(placed(args), src)
      }
      const env = Object.fromEntries(
        argsOf("ENV").flatMap((args) => args.split(" ").map((pair) => placed(pair).split("=") as [string, string]))
      )
      const [copied] = argsOf("COPY")
      const [, from] = /^--from=build \/src\/(\S+) \.$/.exec(copied!)!
      cpSync(join(src, from!), app, { recursive: true })
      if (isNobody) {
        for (const name of readdirSync(app, { recursive: true, encoding: "utf8" })) own(join(app, name))
        mkdirSync(join(directory, "data"))
        chownSync(join(directory, "data"), nobody, nobody)
      }
      // only root can give files to another user; here they are the user's already
      for (const args of argsOf("RUN")) sh(placed(args).replace(/ && chown .*$/, ""), app, env)
      assert.isNotEmpty(readdirSync(join(app, "compiled")), "the code is compiled")
      assert.notProperty(JSON.parse(readFileSync(join(app, "package.json"), "utf8")), "devDependencies")
      assert.deepEqual(readdirSync(join(app, "node_modules")), ["@electric-sql"])
      // from here on, the file system is read only
      sh("chmod -R a-w .", app)

      const port = await FreePort.find()
      const running = { PATH, ...env, HOST: "127.0.0.1", PORT: `${port}` }
      const [program, ...args] = [...JSON.parse(placed(argsOf("ENTRYPOINT")[0]!)), ...JSON.parse(argsOf("CMD")[0]!)]
      const child = spawn(program, args, {
        cwd: placed(argsOf("WORKDIR").at(-1)!),
        env: running,
        stdio: ["ignore", "pipe", "pipe"],
        ...as
      })
      const ended = once(child, "close")
      onTestFinished(() => {
        if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
      })
      let output = ""
      await new Promise<void>((resolve, reject) => {
        const take = (chunk: Buffer) => {
          output += chunk.toString()
          if (output.includes("listening on ")) resolve()
        }
        child.stdout.on("data", take)
        child.stderr.on("data", take)
        void ended.then(() => reject(new Error(output)))
      })
      const [healthProgram, ...health] = JSON.parse(/CMD (\[.*\])$/.exec(argsOf("HEALTHCHECK")[0]!)![1]!)
      execFileSync(healthProgram, health, { env: running, ...as })
      child.kill("SIGTERM")
      assert.deepEqual(await ended, [0, null])
      assert.throws(() => execFileSync(healthProgram, health, { env: running, stdio: "ignore", ...as }))
      sh("chmod -R u+w .", app)
    }
  )
})
