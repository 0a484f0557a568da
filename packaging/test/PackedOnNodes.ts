/**
 * The packed server, and the versions of Node that a file of tests runs it on: this one, and in a full run the oldest
 * that the server claims and the newest too.
 */
import * as Extent from "@wac/testbed/Extent"
import { afterAll, beforeAll, inject } from "vitest"
import { installNodes } from "./Nodes.ts"
import * as PackedServer from "./PackedServer.ts"

const others = ["22.19.0", "26.10.0"] as const

type Other = (typeof others)[number]
type Version = Other | "this"

export const versions = Extent.of<ReadonlyArray<Version>>(["this"], ["this", ...others])

/** Installs them for as long as the tests of the file run. */
export const install = (): {
  readonly packed: () => PackedServer.PackedServer
  /** The executable of a version. */
  readonly nodeOf: (version: Version) => string
} => {
  let packed: PackedServer.PackedServer
  let installed: Awaited<ReturnType<typeof installNodes<Other>>> | undefined
  beforeAll(async () => {
    packed = PackedServer.install(inject("packed"))
    if (versions.length > 1) installed = await installNodes(others)
  })
  afterAll(async () => {
    await packed.remove()
    installed?.remove()
  })
  return {
    packed: () => packed,
    nodeOf: (version) => version === "this" ? process.execPath : installed!.nodes[version]
  }
}
