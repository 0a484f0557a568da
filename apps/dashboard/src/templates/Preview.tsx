/** Previews of templates and texts as a phone shows them; values of placeholders are text, never markup. */
import type { TemplateDetail } from "@wac/client/internal"
import { Fragment, type ReactNode } from "react"

interface Component {
  readonly type: string
  readonly format: string
  readonly text: string
  readonly buttons: ReadonlyArray<string>
  /** Whether the provider writes the text, as it does for one-time codes. */
  readonly isProviders: boolean
}

const word = (value: unknown): string => typeof value === "string" ? value : ""

/** The label of a button. A button that copies a code may have none, because the provider writes it. */
const labelOf = ({ text, type }: Record<string, unknown>): string =>
  word(text) || (type === "OTP" || type === "COPY_CODE" ? "Copy code" : "")

/** The fields of a component that the preview needs; unexpected values of the provider are ignored. */
const read = (component: unknown): Component => {
  const fields = (typeof component === "object" && component !== null ? component : {}) as Record<string, unknown>
  const buttons = Array.isArray(fields["buttons"]) ? fields["buttons"] as ReadonlyArray<unknown> : []
  return {
    type: word(fields["type"]).toUpperCase(),
    format: word(fields["format"]).toUpperCase(),
    text: word(fields["text"]),
    isProviders: !("text" in fields),
    buttons: buttons.map((button) => labelOf((button ?? {}) as Record<string, unknown>))
  }
}

/** The text with the values of its placeholders; placeholders without a value are marked. */
const filled = (text: string, valueOf: (variable: string) => string | undefined): ReactNode =>
  text.split(/(\{\{[^{}]+\}\})/).map((part, i) => {
    const name = /^\{\{([^{}]+)\}\}$/.exec(part)?.[1]?.trim()
    if (name === undefined) return <Fragment key={i}>{part}</Fragment>
    const value = valueOf(name)
    return value === undefined || value === ""
      ? <mark key={i} className="rounded bg-warn-soft px-1 text-warn">{name}</mark>
      : <strong key={i}>{value}</strong>
  })

/** Free-form text as the phone shows it. */
export const TextPreview = ({ text }: { readonly text: string }) => (
  <figure className="rounded-lg bg-sunken p-4" aria-label="Preview">
    <p className="max-w-sm rounded-lg rounded-tl-none border border-line bg-surface px-3 py-2 break-words whitespace-pre-wrap">
      {text === "" ? <span className="text-muted">Your text</span> : text}
    </p>
  </figure>
)

export const Preview = (
  { header, template, values = {} }: {
    readonly template: Pick<TemplateDetail, "name"> & { readonly components: ReadonlyArray<unknown> }
    /** The values of the body's placeholders. */
    readonly values?: { readonly [variable: string]: string }
    /** The value of the header's only placeholder. */
    readonly header?: string
  }
) => {
  const components = template.components.map(read)
  return (
    <figure className="rounded-lg bg-sunken p-4" aria-label={`Preview of ${template.name}`}>
      <div className="max-w-sm overflow-hidden rounded-lg rounded-tl-none border border-line bg-surface">
        <div className="space-y-1.5 px-3 py-2">
          {components.map(({ format, isProviders, text, type }, i) =>
            type === "HEADER"
              ? text === ""
                ? (
                  <p key={i} className="rounded bg-sunken px-2 py-6 text-center text-[13px] text-muted">
                    {format.toLowerCase()}
                  </p>
                )
                : <p key={i} className="font-semibold whitespace-pre-wrap">{filled(text, () => header)}</p>
              : type === "BODY"
              ? (
                <p key={i} className="break-words whitespace-pre-wrap">
                  {text === ""
                    ? (
                      <span className="text-muted">
                        {isProviders ? "The provider’s text, with the code" : "Your text"}
                      </span>
                    )
                    : filled(text, (variable) => values[variable])}
                </p>
              )
              : type === "FOOTER"
              ? <p key={i} className="text-[13px] text-muted">{text}</p>
              : null
          )}
        </div>
        {components.flatMap(({ buttons }) => buttons).map((text, i) => (
          <p key={i} className="border-t border-line px-3 py-2 text-center font-medium text-accent">{text}</p>
        ))}
      </div>
    </figure>
  )
}
