/**
 * Kubernetes manifests: what kustomize builds of a folder, as far as the files of `deploy/kubernetes` use it, and
 * Kubernetes' own schemas.
 */
import { type JsonPatch, JsonPatch as Patch } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { assert } from "vitest"
import { parse, parseAllDocuments } from "yaml"

const require = createRequire(import.meta.url)

/** A part of a file that was read, whose type the schema checks. */
export type Part = ReturnType<typeof parse>

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: Part
}

interface Kustomization {
  readonly resources: ReadonlyArray<string>
  readonly patches?: ReadonlyArray<{
    readonly target: { readonly kind: string; readonly name: string }
    readonly patch: string
  }>
  readonly configMapGenerator?: ReadonlyArray<{ readonly name: string; readonly literals: ReadonlyArray<string> }>
}

/** What kustomize builds of a folder. */
export const build = (place: string): ReadonlyArray<Manifest> => {
  const file = join(place, "kustomization.yaml")
  const { configMapGenerator = [], patches = [], resources }: Kustomization = parse(readFileSync(file, "utf8"))
  const listed = resources.map((name) => join(place, name))
  const others = readdirSync(place).filter((name) => name !== "kustomization.yaml").map((name) => join(place, name))
  assert.includeMembers(listed, others, "every file of a folder is listed")
  const loaded = listed.flatMap((path): ReadonlyArray<Manifest> =>
    path.endsWith(".yaml")
      ? parseAllDocuments(readFileSync(path, "utf8")).map((document) => document.toJS())
      : build(path)
  )
  const generated = configMapGenerator.map(({ literals, name }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: Object.fromEntries(literals.map((literal) => literal.split(/=(.*)/s).slice(0, 2))),
    spec: undefined
  }))
  return patches.reduce<ReadonlyArray<Manifest>>((manifests, { patch, target }) => {
    const isTarget = ({ kind, metadata }: Manifest) => kind === target.kind && metadata.name === target.name
    assert.isTrue(manifests.some(isTarget), `${file} patches what exists`)
    const operations: JsonPatch.JsonPatch = parse(patch)
    return manifests.map((manifest) =>
      isTarget(manifest) ? Patch.apply(operations, manifest as never) as unknown as Manifest : manifest
    )
  }, [...loaded, ...generated])
}

/** Throws unless Kubernetes' schema of its kind accepts the manifest. */
export const validate = ({ spec, ...manifest }: Manifest): void => {
  const models = require(`kubernetes-models/${manifest.apiVersion}`)
  assert.property(models, manifest.kind)
  new models[manifest.kind](spec === undefined ? manifest : { ...manifest, spec }).validate()
}

/** The names of the manifests of a kind. */
export const named = (manifests: ReadonlyArray<Manifest>, kind: string): ReadonlyArray<string> =>
  manifests.filter((manifest) => manifest.kind === kind).map(({ metadata }) => metadata.name)
