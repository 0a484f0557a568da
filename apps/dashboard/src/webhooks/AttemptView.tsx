/** One attempt: how long each phase took, what was sent, and what came back. */
import type { Attempt } from "@wac/client/internal"
import { CopyButton } from "../ui/Copy.tsx"
import { durationOf } from "../ui/Moment.ts"
import { Time } from "../ui/Time.tsx"
import { asSentence } from "../ui/Words.ts"
import { AttemptState, triggers } from "./DeliveryWords.tsx"

const phases = [
  ["lookupMs", "DNS lookup", "fill-muted/50"],
  ["connectMs", "Connect", "fill-muted"],
  ["tlsMs", "TLS", "fill-warn"],
  ["firstByteMs", "Wait for response", "fill-accent"],
  ["bodyMs", "Read response", "fill-accent-strong"]
] as const

/** The phases in one bar; the words beside it say the same. */
const Phases = ({ attempt: { durationMs, timings } }: { readonly attempt: Attempt }) => {
  if (timings === null) return null
  const took = phases.flatMap(([field, name, fill]) => {
    const millis = timings[field]
    return millis === null ? [] : [{ name, fill, millis }]
  })
  const total = Math.max(durationMs, took.reduce((sum, { millis }) => sum + millis, 0), 0.001)
  let x = 0
  return (
    <div className="space-y-1.5">
      <svg viewBox="0 0 100 3" preserveAspectRatio="none" className="h-2 w-full rounded-sm" aria-hidden="true">
        <rect width="100" height="3" className="fill-line" />
        {took.map(({ fill, millis, name }) => {
          const width = millis / total * 100
          x += width
          return <rect key={name} x={x - width} width={Math.max(width, 0.4)} height="3" className={fill} />
        })}
      </svg>
      <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-[13px] text-muted">
        {took.map(({ fill, millis, name }) => (
          <li key={name} className="flex items-center gap-1.5">
            <svg viewBox="0 0 8 8" className="size-2" aria-hidden="true">
              <rect width="8" height="8" rx="1.5" className={fill} />
            </svg>
            {name} {durationOf(millis)}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Bodies are JSON mostly: shown with their structure; what is not stays as it came. */
const pretty = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

const Half = (
  { body, first, headers, label, title }: {
    readonly title: string
    readonly label: string
    readonly first: string
    readonly headers: { readonly [name: string]: string }
    readonly body: string
  }
) => (
  <div className="min-w-0 space-y-1.5">
    <div className="flex items-center justify-between gap-2">
      <h3 className="font-medium">{title}</h3>
      {body === "" ? null : <CopyButton text={body} label="Copy body" />}
    </div>
    <pre
      tabIndex={0}
      role="group"
      aria-label={label}
      className="max-h-80 overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-[13px] whitespace-pre-wrap break-all"
    >
      {first}{"\n"}
      {Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`).join("")}
      {"\n"}
      {pretty(body)}
    </pre>
  </div>
)

export const AttemptView = ({ attempt, isOpen = false }: { readonly attempt: Attempt; readonly isOpen?: boolean }) => (
  <details open={isOpen} className="group rounded-md border border-line">
    <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md px-3 py-2 hover:bg-sunken">
      <AttemptState attempt={attempt} />
      <span className="min-w-0 flex-1 basis-48 break-words">{asSentence(attempt.message)}</span>
      <span className="text-[13px] text-muted">
        {attempt.number > 0 ? `Attempt ${attempt.number} · ` : ""}
        {triggers[attempt.trigger]} · <Time at={attempt.startedAt} /> · {durationOf(attempt.durationMs)}
      </span>
    </summary>
    <div className="space-y-4 border-t border-line p-3">
      <Phases attempt={attempt} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Half
          title="Request"
          label={`Request of attempt ${attempt.number}`}
          first={`POST ${attempt.request.url}${
            attempt.request.address === null ? "" : `  (${attempt.request.address})`
          }`}
          headers={attempt.request.headers}
          body={attempt.request.body}
        />
        {attempt.response === null
          ? (
            <div className="space-y-1.5">
              <h3 className="font-medium">Response</h3>
              <p className="text-muted">
                {attempt.outcome === "delivered"
                  ? "The receiver answered 200. Of successful first attempts, only a sample keeps the response."
                  : `No response came. ${asSentence(attempt.message)}`}
              </p>
            </div>
          )
          : (
            <Half
              title="Response"
              label={`Response of attempt ${attempt.number}`}
              first={`Status ${attempt.statusCode ?? "unknown"}`}
              headers={attempt.response.headers}
              body={attempt.response.body}
            />
          )}
      </div>
    </div>
  </details>
)
