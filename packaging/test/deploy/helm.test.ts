/**
 * The Helm chart. Its templates are rendered by Go's text/template, which is Helm's, with the functions of Helm that
 * they use (`helm/render.go`); Helm itself is not needed, and was not used.
 */
import * as Program from "@wac/testbed/Program"
import { Ajv } from "ajv"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import * as Variable from "../../../apps/server/src/Variable.ts"
import { root } from "../../Published.ts"
import { build, type Manifest, named, type Part, validate } from "./Manifests.ts"
import * as Secrets from "./Secrets.ts"

const chartFolder = join(root, "deploy/helm")
const read = (path: string): string => readFileSync(join(chartFolder, path), "utf8")
const chart = parse(read("Chart.yaml"))
const values: Part = parse(read("values.yaml"))
const schema = JSON.parse(read("values.schema.json"))
const accepts = new Ajv({ allowUnionTypes: true }).compile(schema)

const goNeeded = Program.needed({
  programs: [["go", "version"]],
  untested: "the Helm chart's templates",
  install: "apt-get install golang-go"
})

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The values as Helm merges them: maps by their keys, everything else as a whole. */
const merged = (under: Part, over: Part): Part =>
  isMap(under) && isMap(over)
    ? { ...under, ...Object.fromEntries(Object.entries(over).map(([key, value]) => [key, merged(under[key], value)])) }
    : over

/** What users may set, each with the values that they give. */
const cases = {
  standard: {},
  everything: {
    image: { repository: "registry.example.com/wac", digest: `sha256:${"0".repeat(64)}` },
    imagePullSecrets: [{ name: "registry" }],
    autoscaling: { enabled: true },
    environment: {
      PUBLIC_URL: "https://wac.example.com/?a=1&b=\"2\"",
      WAC_LIMITS: "{\"pair\":{\"everySeconds\":6,\"burst\":45}}"
    },
    secret: { name: "other", keys: [...values.secret.keys, "WHATSAPP_ACCESS_TOKEN"] },
    serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
    podAnnotations: { "example.com/team": "messages" },
    nodeSelector: { "kubernetes.io/os": "linux" },
    tolerations: [{ key: "messages", operator: "Exists" }],
    affinity: { nodeAffinity: {} }
  },
  nothing: { podDisruptionBudget: { enabled: false }, networkPolicy: { enabled: false } }
} satisfies Record<string, Part>

type Case = keyof typeof cases

const names = Object.keys(cases) as ReadonlyArray<Case>

describe("the values of the Helm chart", () => {
  it.each(names)("the schema accepts the values of the case %s", (name) => {
    accepts(merged(values, cases[name]))
    assert.deepEqual(accepts.errors ?? [], [])
  })

  it.each<readonly [what: string, given: Part]>([
    ["a secret in the environment", { environment: { DATABASE_URL: "postgres://wac:secret@db/wac" } }],
    ["a name that is no variable", { environment: { "public-url": "x" } }],
    ["a secret without the master key", { secret: { keys: ["DATABASE_URL", "METRICS_TOKEN"] } }],
    ["a key that the server reads from no file", { secret: { keys: [...values.secret.keys, "PORT"] } }],
    ["an unknown value", { replicaCount: 3 }],
    ["an unknown value further in", { image: { name: "wac" } }],
    ["a digest that is none", { image: { digest: "latest" } }],
    ["no process", { replicas: 0 }],
    ["processes as text", { replicas: "3" }],
    ["a service of an unknown type", { service: { type: "Other" } }]
  ])("the schema refuses %s", (_, given) => {
    assert.isFalse(accepts(merged(values, given)))
  })

  it("the schema knows every value, and every secret of the server", () => {
    assert.sameMembers(Object.keys(schema.properties).filter((name) => name !== "global"), Object.keys(values))
    assert.sameMembers(schema.properties.environment.propertyNames.not.enum, [...Variable.secrets])
    assert.sameMembers(schema.properties.secret.properties.keys.items.enum, [...Variable.secrets])
  })

  it("the chart has the version of the packages", () => {
    const { version } = JSON.parse(readFileSync(join(root, "packages/wac/package.json"), "utf8"))
    assert.deepEqual([chart.version, chart.appVersion], [version, version])
  })
})

describe("the Helm chart", goNeeded, () => {
  let texts: Readonly<Record<Case, Readonly<Record<string, string>>>>
  const manifestsOf = (name: Case): ReadonlyArray<Manifest> =>
    Object.entries(texts[name]).filter(([path]) => path.endsWith(".yaml")).flatMap(([path, text]) =>
      parseAllDocuments(text).flatMap((document): ReadonlyArray<Manifest> => {
        assert.deepEqual(document.errors, [], path)
        return document.toJS() === null ? [] : [document.toJS()]
      })
    )
  const oneOf = (manifests: ReadonlyArray<Manifest>, kind: string): Manifest => {
    const [found, ...others] = manifests.filter((manifest) => manifest.kind === kind)
    assert.deepEqual([found === undefined, others], [false, []], kind)
    return found!
  }

  beforeAll(() => {
    const templates = Object.fromEntries(
      readdirSync(join(chartFolder, "templates")).map((name) => [name, read(`templates/${name}`)])
    )
    const roots = names.map((name) => ({
      Values: merged(values, cases[name]),
      Release: { Name: "shop", Namespace: "messages", Service: "Helm" },
      Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion }
    }))
    const output = execFileSync("go", ["run", join(import.meta.dirname, "helm/render.go")], {
      input: JSON.stringify({ templates, cases: roots }),
      env: { ...process.env, GO111MODULE: "off", GOFLAGS: "" },
      encoding: "utf8"
    })
    texts = Object.fromEntries(
      (JSON.parse(output) as ReadonlyArray<Record<string, string>>).map((text, i) => [names[i]!, text])
    ) as typeof texts
  })

  it.each(names)("the chart's objects match Kubernetes' schemas, with the values of the case %s", (name) => {
    for (const manifest of manifestsOf(name)) {
      assert.strictEqual(manifest.metadata.name, "shop")
      // the operator's objects are not Kubernetes' own
      if (manifest.kind !== "ServiceMonitor") validate(manifest)
    }
  })

  it("the chart runs the same pod as the overlay cluster", () => {
    const pod = ({ spec }: Manifest) => {
      const { containers: [{ env, envFrom, image, imagePullPolicy, ...container }], ...rest } = spec.template.spec
      assert.isDefined([env, envFrom, image, imagePullPolicy])
      return { ...rest, containers: [container] }
    }
    const expected = oneOf(build(join(root, "deploy/kubernetes/overlays/cluster")), "Deployment")
    const found = oneOf(manifestsOf("standard"), "Deployment")
    const { affinity, imagePullSecrets, nodeSelector, tolerations, ...own } = pod(found)
    assert.deepEqual([affinity, imagePullSecrets, nodeSelector, tolerations], [{}, [], {}, []])
    const { spec: { selector: { matchLabels } } } = found
    assert.deepEqual(own, {
      ...pod(expected),
      serviceAccountName: "shop",
      topologySpreadConstraints: [{
        ...expected.spec.template.spec.topologySpreadConstraints[0],
        labelSelector: { matchLabels }
      }]
    })
    assert.deepEqual(
      [found.spec.strategy, found.spec.replicas],
      [expected.spec.strategy, expected.spec.replicas]
    )
  })

  it.each(names)("the chart refers only to objects that it contains, with the values of the case %s", (name) => {
    const manifests = manifestsOf(name)
    const { spec } = oneOf(manifests, "Deployment")
    const [container] = spec.template.spec.containers
    assert.deepEqual(container.envFrom, [{ configMapRef: { name: oneOf(manifests, "ConfigMap").metadata.name } }])
    assert.deepEqual(named(manifests, "ServiceAccount"), [spec.template.spec.serviceAccountName])
    const labels = spec.template.metadata.labels
    for (const { kind, metadata, spec } of manifests) {
      const selector = kind === "Service" ? spec.selector : (spec?.selector ?? spec?.podSelector)?.matchLabels
      if (kind === "ServiceMonitor") assert.deepInclude(oneOf(manifests, "Service").metadata.labels, selector)
      else if (selector !== undefined) assert.deepInclude(labels, selector, kind)
      assert.deepInclude(metadata.labels, labels, kind)
    }
  })

  it.each(names)("the server gets the keys of the secret as files, with the values of the case %s", async (name) => {
    const folder = mkdtempSync(join(tmpdir(), "wac-helm-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const given = merged(values, cases[name])
    const manifests = manifestsOf(name)
    const { data } = oneOf(manifests, "ConfigMap")
    assert.deepInclude(data, given.environment)
    const { containers: [container], volumes } = oneOf(manifests, "Deployment").spec.template.spec
    assert.strictEqual(volumes.find(({ name }: Part) => name === "secrets").secret.secretName, given.secret.name)
    const placed = Secrets.write(folder, {
      WAC_MASTER_KEY: randomBytes(32).toString("base64"),
      METRICS_TOKEN: "a-token",
      DATABASE_URL: "postgres://wac:a-password@postgres/wac",
      WHATSAPP_ACCESS_TOKEN: "a-provider-token"
    })
    const { mountPath } = container.volumeMounts.find(({ name }: Part) => name === "secrets")
    const found = await Secrets.read({ ...data, PUBLIC_URL: values.environment.PUBLIC_URL }, (path) => {
      assert.strictEqual(dirname(path), mountPath)
      return placed(path)
    })
    assert.deepEqual(found, { database: "postgres://wac:a-password@postgres/wac", metricsToken: "a-token" })
  })

  it("a change of the environment starts new pods", () => {
    const [standard, everything, nothing] = names.map((name) =>
      oneOf(manifestsOf(name), "Deployment").spec.template.metadata.annotations["wac/environment"]
    )
    assert.notStrictEqual(everything, standard)
    assert.strictEqual(nothing, standard)
  })

  it("a scaled chart has bounds and the processor's use, and no number of replicas", () => {
    const manifests = manifestsOf("everything")
    assert.notProperty(oneOf(manifests, "Deployment").spec, "replicas")
    const { spec } = oneOf(manifests, "HorizontalPodAutoscaler")
    assert.deepInclude(spec, {
      minReplicas: values.autoscaling.minReplicas,
      maxReplicas: values.autoscaling.maxReplicas
    })
    assert.deepEqual(spec.scaleTargetRef, { apiVersion: "apps/v1", kind: "Deployment", name: "shop" })
    assert.deepEqual(named(manifestsOf("standard"), "HorizontalPodAutoscaler"), [])
  })

  it("the image is named by its digest if there is one, else by its tag", () => {
    const imageOf = (name: Case) => oneOf(manifestsOf(name), "Deployment").spec.template.spec.containers[0].image
    assert.strictEqual(imageOf("everything"), `registry.example.com/wac@sha256:${"0".repeat(64)}`)
    assert.strictEqual(imageOf("standard"), `wac:${chart.appVersion}`)
  })

  it("the chart has a budget of disruptions and a network policy unless they are turned off", () => {
    const kinds = ["PodDisruptionBudget", "NetworkPolicy"]
    for (const kind of kinds) assert.deepEqual(named(manifestsOf("standard"), kind), ["shop"])
    for (const kind of kinds) assert.deepEqual(named(manifestsOf("nothing"), kind), [])
  })

  it("the chart scrapes with the token that /metrics requires, as the job that the rules name", () => {
    const manifests = manifestsOf("everything")
    const { metadata, spec } = oneOf(manifests, "ServiceMonitor")
    assert.strictEqual(metadata.labels!["release"], "prometheus")
    const service = oneOf(manifests, "Service")
    const [endpoint] = spec.endpoints
    assert.include(service.spec.ports.map(({ name }: Part) => name), endpoint.port)
    assert.deepInclude(endpoint, {
      path: "/metrics",
      authorization: { type: "Bearer", credentials: { name: "other", key: "METRICS_TOKEN" } }
    })
    const job = service.metadata.labels![spec.jobLabel]
    assert.include(readFileSync(join(root, "deploy/prometheus/rules.yml"), "utf8"), `up{job="${job}"}`)
  })

  it("its notes create the secret that the pods wait for", () => {
    for (const name of names) {
      const { keys, name: secret } = merged(values, cases[name]).secret
      const notes = texts[name]["NOTES.txt"]!
      const [command] = /^ +kubectl create secret generic (?:.*\\\n)*.*$/m.exec(notes)!
      assert.include(command, `create secret generic ${secret} --namespace messages`)
      assert.deepEqual([...command.matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => key), keys)
    }
  })
})
