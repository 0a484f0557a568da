/**
 * The Kubernetes manifests: each overlay is composed as kustomize does, as far as these files use it, and every object
 * is validated against Kubernetes' own schema.
 */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import { parse } from "yaml"
import { root } from "../../Published.ts"
import { build, named, type Part, validate } from "./Manifests.ts"
import * as Secrets from "./Secrets.ts"

const folder = join(root, "deploy/kubernetes")
const base = join(folder, "base")
describe.each(["single", "cluster"])("the overlay %s", (overlay) => {
  const manifests = build(join(folder, "overlays", overlay))
  const { spec } = manifests.find(({ kind }) => kind === "Deployment")!
  const pod = spec.template.spec
  const [container] = pod.containers

  it("the overlay's objects match Kubernetes' schemas", () => {
    assert.includeMembers(manifests.map(({ kind }) => kind), ["Deployment", "Service", "ServiceAccount", "ConfigMap"])
    for (const manifest of manifests) validate(manifest)
  })

  it("the overlay refers only to objects that it contains, except the secret that the operator creates", () => {
    const claims = pod.volumes.flatMap((volume: Part) => volume.persistentVolumeClaim?.claimName ?? [])
    assert.includeMembers([...named(manifests, "PersistentVolumeClaim")], claims)
    assert.includeMembers([...named(manifests, "ServiceAccount")], [pod.serviceAccountName])
    assert.deepEqual(container.envFrom, [{ configMapRef: { name: "wac" } }])
    assert.deepEqual(pod.volumes.flatMap(({ secret }: Part) => secret?.secretName ?? []), ["wac"])
    const mounts = container.volumeMounts.map(({ name }: { readonly name: string }) => name)
    assert.sameMembers(mounts, pod.volumes.map(({ name }: { readonly name: string }) => name))
    const labels = spec.template.metadata.labels
    for (const manifest of manifests) {
      const selector = manifest.kind === "Service"
        ? manifest.spec.selector
        : (manifest.spec?.selector ?? manifest.spec?.podSelector)?.matchLabels
      if (selector !== undefined) assert.deepInclude(labels, selector, manifest.kind)
    }
  })

  it("the server gets the parts of the created secret as files, and none in the environment", async () => {
    const folder = mkdtempSync(join(tmpdir(), "wac-kubernetes-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { data } = manifests.find(({ kind }) => kind === "ConfigMap")!
    const env = Object.fromEntries(
      (container.env ?? []).map(({ name, value }: Readonly<Record<string, string>>) => [name, value])
    )
    // the parts of the secret, as the command of the base's comment has them
    const command = readFileSync(join(base, "kustomization.yaml"), "utf8")
    const parts = [...command.matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name)
    const values = {
      WAC_MASTER_KEY: randomBytes(32).toString("base64"),
      METRICS_TOKEN: "a-token",
      DATABASE_URL: "postgres://wac:a-password@postgres/wac"
    }
    assert.sameMembers(parts, Object.keys(values))
    const { mountPath } = container.volumeMounts.find(({ name }: Part) => name === "secrets")
    const placed = Secrets.write(folder, values)
    const found = await Secrets.read({ ...data, ...env }, (path) => {
      assert.strictEqual(dirname(path), mountPath)
      return placed(path)
    })
    assert.deepEqual(found, {
      database: overlay === "single" ? "Embedded" : values.DATABASE_URL,
      metricsToken: values.METRICS_TOKEN
    })
  })

  it("the server runs without root and privileges, on a read-only file system", () => {
    assert.include(pod.securityContext, { runAsNonRoot: true })
    assert.include(container.securityContext, { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
    assert.deepEqual(container.securityContext.capabilities.drop, ["ALL"])
  })

  it("health and readiness are probed, and there is time for a graceful stop", () => {
    assert.strictEqual(container.livenessProbe.httpGet.path, "/healthz")
    assert.strictEqual(container.readinessProbe.httpGet.path, "/readyz")
    const [, sleeps] = container.lifecycle.preStop.exec.command
    assert.isAtLeast(pod.terminationGracePeriodSeconds, Number(sleeps) + 10)
  })

  it("one of several processes keeps running through an update and a drained node", () => {
    const budgets = named(manifests, "PodDisruptionBudget")
    if (spec.replicas === 1) {
      // two processes cannot have one embedded database
      assert.deepEqual([spec.strategy.type, budgets], ["Recreate", []])
      return
    }
    assert.isAtLeast(spec.replicas, 2)
    assert.strictEqual(spec.strategy.rollingUpdate.maxUnavailable, 0)
    assert.deepEqual(budgets, ["wac"])
  })
})

describe("the component watching", () => {
  it("the component scrapes the service's pods with the token that /metrics requires", () => {
    const [monitor] = build(join(folder, "components/watching"))
    const service = build(join(folder, "base")).find(({ kind }) => kind === "Service")!
    const { labels } = parse(readFileSync(join(folder, "base/kustomization.yaml"), "utf8"))
    assert.include(monitor, { apiVersion: "monitoring.coreos.com/v1", kind: "ServiceMonitor" })
    assert.deepEqual(monitor!.spec.selector.matchLabels, labels[0].pairs)
    const [endpoint] = monitor!.spec.endpoints
    assert.include(service.spec.ports.map(({ name }: Part) => name), endpoint.port)
    assert.deepInclude(endpoint, {
      path: "/metrics",
      authorization: { type: "Bearer", credentials: { name: "wac", key: "METRICS_TOKEN" } }
    })
    // the rules find the processes by this job, which is the service's name
    assert.include(
      readFileSync(join(root, "deploy/prometheus/rules.yml"), "utf8"),
      `up{job="${service.metadata.name}"}`
    )
  })

  it("nothing advertises a scrape without the token", () => {
    assert.notInclude(readFileSync(join(folder, "base/deployment.yaml"), "utf8"), "prometheus.io/scrape")
  })
})

describe("the compose file", () => {
  const path = join(root, "deploy/compose/compose.yaml")
  const { secrets, services, volumes } = parse(readFileSync(path, "utf8"))

  it("the guide's commands run the image's program in the service, and in the pod of either overlay", () => {
    const guide = readFileSync(join(root, "docs/guides/operating.md"), "utf8")
    const [, compose, kubernetes] = /^(docker compose .*) doctor\n(kubectl exec .*) doctor$/m.exec(guide)!
    const [, ...entry] = /^ENTRYPOINT \["node",.* "(.*)"\]$/m.exec(
      readFileSync(join(root, "deploy/Containerfile"), "utf8")
    )!
    const [, file, service, ...program] = /^docker compose -f (\S+) exec -T (\w+) (node) (\S+)$/.exec(compose!)!
    assert.deepEqual(program, ["node", ...entry])
    assert.strictEqual(join(root, file!), path)
    assert.property(services, service!)
    const [, deployment, ...inPod] = /^kubectl exec -i deploy\/(\w+) -- (node) (\S+)$/.exec(kubernetes!)!
    assert.deepEqual(inPod, program)
    for (const overlay of ["single", "cluster"]) {
      const manifests = build(join(folder, "overlays", overlay))
      assert.include([...named(manifests, "Deployment")], deployment)
      // a command gets what `envFrom` and `env` of the pod's only container give
      assert.lengthOf(manifests.find(({ kind }) => kind === "Deployment")!.spec.template.spec.containers, 1)
    }
  })

  it("every mount is a file that exists or a declared volume", () => {
    for (const [name, { volumes: mounted = [] }] of Object.entries<Part>(services)) {
      for (const mount of mounted) {
        const [source] = mount.split(":")
        if (source.startsWith(".")) assert.isTrue(existsSync(join(dirname(path), source)), `${name}: ${source}`)
        else assert.property(volumes, source)
      }
    }
    const { build } = services.wac
    assert.isTrue(existsSync(join(dirname(path), build.context, build.dockerfile)))
  })

  /** A copy of its folder, in which its script has made what it needs. */
  const prepared = () => {
    const folder = mkdtempSync(join(tmpdir(), "wac-compose-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const name of ["compose.yaml", "example.env", "secrets.sh"]) {
      copyFileSync(join(dirname(path), name), join(folder, name))
    }
    const prepare = () => execFileSync("sh", [join(folder, "secrets.sh")])
    prepare()
    const contents = () =>
      Object.entries<Part>(secrets).map(([name, { file }]) => [name, readFileSync(join(folder, file), "utf8")])
    return { folder, prepare, contents }
  }

  it("the script makes each secret and the settings, and keeps existing ones", Secrets.needed, () => {
    const { contents, folder, prepare } = prepared()
    const first = contents()
    writeFileSync(join(folder, ".env"), "PROVIDER=whatsapp\n")
    prepare()
    assert.deepEqual(contents(), first)
    assert.strictEqual(readFileSync(join(folder, ".env"), "utf8"), "PROVIDER=whatsapp\n")
    assert.strictEqual(statSync(join(folder, "secrets")).mode & 0o777, 0o700)
  })

  it("each service gets its secrets as files, and none in the environment", Secrets.needed, async () => {
    const { contents, folder } = prepared()
    const values = Object.fromEntries(contents())
    const { environment, secrets: given } = services.wac
    const settings = [...readFileSync(join(folder, ".env"), "utf8").matchAll(/^(\w+)=(.*)$/gm)]
      .map(([, name, value]) => [name!, value!])
    const found = await Secrets.read({ ...Object.fromEntries(settings), ...environment }, (place) => {
      const [, name] = /^\/run\/secrets\/(\w+)$/.exec(place)!
      assert.include(given, name)
      return join(folder, secrets[name!].file)
    })
    const password = values["postgres_password"]!.trim()
    assert.deepEqual(found, {
      database: `postgres://wac:${password}@postgres/wac`,
      metricsToken: values["metrics_token"]!.trim()
    })
    assert.strictEqual(services.postgres.environment.POSTGRES_PASSWORD_FILE, "/run/secrets/postgres_password")
    for (const { environment = {}, secrets: given = [] } of Object.values<Part>(services)) {
      assert.includeMembers(Object.keys(secrets), given)
      assert.notProperty(environment, "POSTGRES_PASSWORD")
    }
    // Compose can give a container whose file system is read only no other secrets than files
    for (const secret of Object.values<Part>(secrets)) assert.property(secret, "file")
  })

  it("the server runs read-only without capabilities, after the database", () => {
    const { cap_drop, depends_on, read_only, stop_grace_period } = services.wac
    assert.deepEqual([cap_drop, read_only], [["ALL"], true])
    assert.strictEqual(depends_on.postgres.condition, "service_healthy")
    assert.isAtLeast(parseInt(stop_grace_period), 11)
  })

  it("Prometheus and Grafana start only with a profile", () => {
    const without = Object.entries<Part>(services).filter(([, { profiles }]) => profiles === undefined)
    assert.deepEqual(without.map(([name]) => name), ["wac", "postgres"])
  })
})
