/**
 * `npm run release`: sets versions, builds and publishes. `npm run release -- --dry-run` changes and publishes nothing: it
 * builds and packs what would be published, and tries the packed files as users would have them.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build, pack, packInstalled, tarballOf } from "./Packed.ts"
import { folders, manifestOf, root, server } from "./Published.ts"
import * as ServerTrial from "./ServerTrial.ts"

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const run = (program: string, ...args: ReadonlyArray<string>): void => {
  execFileSync(program, args, { cwd: root, stdio: "inherit" })
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`

const dryRun = async (): Promise<void> => {
  const packed = mkdtempSync(join(tmpdir(), "wac-release-"))
  try {
    build()
    pack(packed)
    say("would be published, in the versions that the changesets give them:")
    for (const name of [...folders.keys(), server.name]) {
      say(`  ${name} (${megabytes(statSync(tarballOf(packed, name)).size)} packed)`)
    }
    const installed = Object.keys(manifestOf(server.folder).dependencies!)
    packInstalled(packed, installed)
    const found = await ServerTrial.run([server.name, ...installed].map((name) => tarballOf(packed, name)))
    say(`\n${server.name}, in an empty directory, as user ${found.uid}:`)
    say(
      `  installed ${found.installedPackages} packages, ${megabytes(found.installedBytes)}, in ${
        seconds(found.installing)
      }`
    )
    say(`  \`npx wac start\` to a verified event: ${seconds(found.verified)}`)
    say(`  ready after ${seconds(found.firstReady)}, the second time after ${seconds(found.secondReady)}, npx included`)
    if (found.idleBytes !== undefined) say(`  memory of the idle process: ${megabytes(found.idleBytes)}`)
    say("\nnothing was published")
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
}

if (process.argv.includes("--dry-run")) await dryRun()
else {
  run("npx", "changeset", "version")
  run("npm", "install", "--package-lock-only")
  build()
  run("npx", "changeset", "publish")
}
