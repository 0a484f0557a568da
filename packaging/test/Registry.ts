/**
 * A registry of packages on loopback, from which npm installs packed files by their names, as it installs what is
 * published.
 */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as tar from "tar"

interface Packed {
  readonly manifest: { readonly name: string; readonly version: string }
  readonly bytes: Buffer
}

/** A registry that has nothing yet. */
export interface Registry {
  readonly url: string
  /** Publishes a packed file; its version is the package's latest then. */
  readonly publish: (file: string) => Promise<void>
  readonly close: () => Promise<void>
}

const manifestIn = async (file: string): Promise<Packed["manifest"]> => {
  const chunks: Array<Buffer> = []
  await tar.list({
    file,
    filter: (path) => path === "package/package.json",
    onReadEntry: (entry) => void entry.on("data", (chunk: Buffer) => chunks.push(chunk))
  })
  return JSON.parse(Buffer.concat(chunks).toString())
}

/** Starts a registry. */
export const start = async (): Promise<Registry> => {
  const packages = new Map<string, Array<Packed>>()
  const server = createServer((request, response) => {
    const [, name = "", version] = /^\/([^/]+|@[^/]+\/[^/]+?)(?:\/-\/([^/]+)\.tgz)?$/.exec(
      decodeURIComponent(request.url!)
    ) ?? []
    const versions = packages.get(name)
    if (versions === undefined) return response.writeHead(404).end("{}")
    if (version !== undefined) {
      return response.end(versions.find(({ manifest }) => manifest.version === version)!.bytes)
    }
    response.setHeader("content-type", "application/json").end(JSON.stringify({
      name,
      "dist-tags": { latest: versions.at(-1)!.manifest.version },
      versions: Object.fromEntries(versions.map(({ bytes, manifest }) => [manifest.version, {
        ...manifest,
        dist: {
          tarball: `${url}/${name}/-/${manifest.version}.tgz`,
          integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`
        }
      }]))
    }))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    publish: async (file) => {
      const manifest = await manifestIn(file)
      packages.set(manifest.name, [...packages.get(manifest.name) ?? [], { manifest, bytes: readFileSync(file) }])
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
