/** Text that a person can copy: a button for it, program text, and secrets. */
import { useEffect, useState } from "react"
import { Button } from "./Button.tsx"
import { t } from "./Language.ts"
import { withinSentence } from "./Words.ts"

/** A button that copies a text, and shows for two seconds whether that succeeded. */
export const CopyButton = (
  { label = t("Copy"), small = true, text }: {
    readonly text: string
    readonly label?: string
    readonly small?: boolean
  }
) => {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle")
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), 2000)
    return () => clearTimeout(timer)
  }, [state])
  return (
    <Button
      small={small}
      icon={state === "copied" ? "check" : "copy"}
      onClick={() => {
        navigator.clipboard.writeText(text).then(() => setState("copied"), () => setState("failed"))
      }}
    >
      <span aria-live="polite">
        {state === "copied" ? t("Copied") : state === "failed" ? t("Select and copy it") : label}
      </span>
    </Button>
  )
}

const copyOf = (label: string): string => t("Copy {what}", { what: withinSentence(label) })

/** Program text, unchanged, with a button that copies it. */
export const Code = (
  { copy, label, text }: { readonly text: string; readonly label: string; readonly copy?: boolean }
) => (
  <div className="relative">
    <pre
      tabIndex={0}
      role="group"
      aria-label={label}
      className="max-h-96 overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-[13px] whitespace-pre-wrap break-all"
    >{text}</pre>
    {copy === false ? null : (
      <div className="mt-2">
        <CopyButton text={text} label={copyOf(label)} />
      </div>
    )}
  </div>
)

/** A secret that is shown only once, with a button that copies it. */
export const Secret = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <div className="space-y-1">
    <p className="font-medium">{label}</p>
    <div className="flex flex-wrap items-center gap-2">
      <code className="min-w-0 flex-1 basis-60 rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-[13px] break-all">
        {value}
      </code>
      <CopyButton text={value} label={copyOf(label)} small={false} />
    </div>
  </div>
)
