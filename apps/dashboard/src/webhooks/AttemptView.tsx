/** Shows one attempt: how long each phase took, the request, and the response. */
import type { Attempt } from "@wac/client/internal"
import { useState } from "react"
import { CopyButton } from "../ui/Copy.tsx"
import { t } from "../ui/Language.ts"
import { durationOf } from "../ui/Moment.ts"
import { Time } from "../ui/Time.tsx"
import { AttemptState, attemptWords, triggers } from "./DeliveryWords.tsx"

const phases = [
  ["lookupMs", t("DNS lookup"), "fill-muted/50"],
  ["connectMs", t("Connect"), "fill-muted"],
  ["tlsMs", "TLS", "fill-warn"],
  ["firstByteMs", t("Wait for response"), "fill-accent"],
  ["bodyMs", t("Read response"), "fill-accent-strong"]
] as const

/** The durations of the phases, as one bar and as text. */
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

/** A body for display: JSON is indented, everything else stays unchanged. */
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
      {body === "" ? null : <CopyButton text={body} label={t("Copy body")} />}
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

/**
 * An attempt that can be opened; `isOpen` is its initial state. After that only the reader opens or closes it, even if
 * new attempts come.
 */
export const AttemptView = ({ attempt, isOpen: isOpenAtFirst = false }: {
  readonly attempt: Attempt
  readonly isOpen?: boolean
}) => {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="group rounded-md border border-line"
    >
      <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md px-3 py-2 hover:bg-sunken">
        <AttemptState attempt={attempt} />
        <span className="min-w-0 flex-1 basis-48 break-words">{attemptWords(attempt)}</span>
        <span className="text-[13px] text-muted">
          {attempt.number > 0 ? `${t("Attempt {number}", { number: attempt.number })} · ` : ""}
          {triggers[attempt.trigger]} · <Time at={attempt.startedAt} /> · {durationOf(attempt.durationMs)}
        </span>
      </summary>
      <div className="space-y-4 border-t border-line p-3">
        <Phases attempt={attempt} />
        <div className="grid gap-4 lg:grid-cols-2">
          <Half
            title={t("Request")}
            label={t("Request of attempt {number}", { number: attempt.number })}
            first={`POST ${attempt.request.url}${
              attempt.request.address === null ? "" : `  (${attempt.request.address})`
            }`}
            headers={attempt.request.headers}
            body={attempt.request.body}
          />
          {attempt.response === null
            ? (
              <div className="space-y-1.5">
                <h3 className="font-medium">{t("Response")}</h3>
                <p className="text-muted">
                  {attempt.outcome === "delivered"
                    ? t("The receiver answered 200. Of successful first attempts, only a sample keeps the response.")
                    : `${t("No response came.")} ${attemptWords(attempt)}`}
                </p>
              </div>
            )
            : (
              <Half
                title={t("Response")}
                label={t("Response of attempt {number}", { number: attempt.number })}
                first={t("Status {code}", { code: attempt.statusCode ?? t("unknown") })}
                headers={attempt.response.headers}
                body={attempt.response.body}
              />
            )}
        </div>
      </div>
    </details>
  )
}
