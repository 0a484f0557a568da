/**
 * The collector of traces, metrics and logs, by the variables of OpenTelemetry.
 */
import { Effect, Redacted, Result, Schema, Struct } from "effect"
import type * as Variable from "../Variable.ts"
import { BadVariable } from "../VariableText.ts"
import { flag, optional, read, WebAddress } from "./Reading.ts"

/** Reads pairs in OpenTelemetry's form: `name=value`, separated by commas, with percent-encoded values. */
const pairs = Effect.fnUntraced(function*(variable: Variable.Name, isName: RegExp) {
  const expected = "NAME=VALUE, separated by commas, with values that are percent-encoded"
  const text = yield* read(variable, Schema.String, expected, "")
  const entries = text.split(",").map((pair) => pair.trim()).filter((pair) => pair !== "").map((pair) => {
    const at = pair.indexOf("=")
    const [name, value] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()]
    return Result.map(
      Result.try(() => decodeURIComponent(value)),
      (value) => [name, value] as const
    ).pipe(Result.filterOrFail(([name, value]) => isName.test(name) && !/[\r\n\0]/.test(value), () => undefined))
  })
  return Object.fromEntries(
    yield* Effect.mapError(Effect.fromResult(Result.all(entries)), () => new BadVariable({ variable, expected }))
  )
})

const samplers = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false, ratio: undefined },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true, ratio: undefined }
} as const

/** Which traces are collected. */
const sampler = Effect.gen(function*() {
  const names = Struct.keys(samplers)
  const name = yield* read("OTEL_TRACES_SAMPLER", Schema.Literals(names), names.join(", "), "parentbased_always_on")
  const share = yield* read(
    "OTEL_TRACES_SAMPLER_ARG",
    Schema.NumberFromString.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    "a number from 0 to 1",
    1
  )
  const { isParentBased, ratio = share } = samplers[name]
  return { isParentBased, ratio }
})

/** Whether a signal is exported. */
const exported = (variable: Variable.Name) =>
  Effect.map(
    read(variable, Schema.Literals(["otlp", "none"]), "otlp or none", "otlp"),
    (exporter) => exporter === "otlp"
  )

/** The collector (contract §8 `OTEL_…`). */
export const telemetry = Effect.gen(function*() {
  const endpoint = yield* optional("OTEL_EXPORTER_OTLP_ENDPOINT", WebAddress, "an http or https URL")
  const isDisabled = yield* flag("OTEL_SDK_DISABLED")
  const attributes = yield* pairs("OTEL_RESOURCE_ATTRIBUTES", /^[\x21-\x7e]+$/)
  const serviceName = yield* optional("OTEL_SERVICE_NAME", Schema.NonEmptyString, "a name")
  const headers = yield* pairs("OTEL_EXPORTER_OTLP_HEADERS", /^[-!#$%&'*+.^_`|~A-Za-z0-9]+$/)
  const config = {
    headers: Redacted.make(headers),
    serviceName: serviceName ?? attributes["service.name"] ?? "wac",
    attributes,
    sampler: yield* sampler,
    signals: {
      traces: yield* exported("OTEL_TRACES_EXPORTER"),
      metrics: yield* exported("OTEL_METRICS_EXPORTER"),
      logs: yield* exported("OTEL_LOGS_EXPORTER")
    }
  }
  return endpoint === undefined || isDisabled ? undefined : { ...config, endpoint: endpoint.href }
})
