/**
 * Releases the image of the server: for several platforms, on base images whose digests are resolved and recorded, with
 * provenance, signed, and with the bill of materials of the server's package attested.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** Runs a program in the repository, and returns what it prints to its standard output. Throws if it fails. */
export type Run = (program: string, ...args: ReadonlyArray<string>) => string

export interface Options {
  /** The name without a tag, such as `registry.example.com/wac`. */
  readonly image: string
  readonly version: string
  /** The text of the container file, which is at `deploy/Containerfile`. */
  readonly containerfile: string
  /** The CycloneDX document to attest. */
  readonly materials: string
  /** An existing folder for temporary files. */
  readonly temporary: string
  /** The key of `cosign`, as it names keys; without one it signs with the identity of the machine's OpenID provider. */
  readonly key: string | undefined
}

/** What was released. */
export interface Released {
  readonly image: string
  readonly version: string
  readonly platforms: ReadonlyArray<string>
  /** Of the index of all platforms: `sha256:…`. */
  readonly digest: string
  /** The base images with their digests, by the arguments of the container file. */
  readonly bases: Readonly<Record<string, string>>
}

const platforms: ReadonlyArray<string> = ["linux/amd64", "linux/arm64"]

/** The base images of a container file, by the arguments that replace them. */
export const basesOf = (containerfile: string): ReadonlyMap<string, string> =>
  new Map(
    [...containerfile.slice(0, containerfile.search(/^FROM /m)).matchAll(/^ARG (\w+)=(\S+)$/gm)]
      .map(([, name, image]) => [name!, image!])
  )

const checked = (digest: string, of: string): string => {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${of} has no digest: ${digest}`)
  return digest
}

/** Builds, pushes, signs and attests. Throws at the first step that fails; repeating it is safe. */
export const release = (
  { containerfile, image, key, materials, temporary, version }: Options,
  run: Run
): Released => {
  const bases = Object.fromEntries(
    [...basesOf(containerfile)].map(([name, base]) => {
      const digest = run("docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", base).trim()
      return [name, `${base}@${checked(digest, base)}`]
    })
  )
  const metadata = join(temporary, "image.json")
  run(
    "docker",
    "buildx",
    "build",
    "--file=deploy/Containerfile",
    `--platform=${platforms.join(",")}`,
    ...Object.entries(bases).map(([name, base]) => `--build-arg=${name}=${base}`),
    "--provenance=mode=max",
    "--sbom=true",
    `--metadata-file=${metadata}`,
    `--tag=${image}:${version}`,
    "--push",
    "."
  )
  const digest = checked(JSON.parse(readFileSync(metadata, "utf8"))["containerimage.digest"], image)
  const named = `${image}@${digest}`
  const by = key === undefined ? [] : [`--key=${key}`]
  run("cosign", "sign", "--yes", ...by, named)
  run("cosign", "attest", "--yes", ...by, "--type=cyclonedx", `--predicate=${materials}`, named)
  return { image, version, platforms, digest, bases }
}
