/** The section with a message's content: as it was sent, and as the phone shows it. */
import { Link } from "@tanstack/react-router"
import type { MessageDetail, TemplateDetail } from "@wac/client/internal"
import { fieldsOf, Said, textOf } from "../contacts/Said.tsx"
import { Preview, TextPreview } from "../templates/Preview.tsx"
import { useTemplate } from "../templates/Queries.ts"
import { Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"

/** The values of a template's placeholders by name, as text. Pure. */
const valuesOf = (template: TemplateDetail, params: unknown): { readonly [variable: string]: string } =>
  Object.fromEntries(
    Array.isArray(params)
      ? template.variables.map((variable, i) => [variable, textOf(params[i])])
      : Object.entries(fieldsOf(params)).map(([name, value]) => [name, textOf(value)])
  )

/** The preview of a sent template with its values; a hint if the provider no longer lists the template. */
const Filled = (
  { content, from }: { readonly content: { readonly [name: string]: unknown }; readonly from: string }
) => {
  const template = useTemplate(String(content["name"]), String(content["language"]), from)
  return template == null
    ? template === null ? <p className="text-muted">The provider does not list this template any more.</p> : null
    : (
      <>
        <Preview
          template={template}
          values={valuesOf(template, content["bodyParams"])}
          header={textOf(fieldsOf(content["header"])["text"])}
        />
        <p className="mt-1 text-[13px] text-muted">
          The template’s words are those of{" "}
          <Link to="/templates/$id" params={{ id: template.id }} className="underline">today</Link>.
        </p>
      </>
    )
}

export const Sent = ({ message: { content, context, from, type } }: { readonly message: MessageDetail }) => {
  const fields = fieldsOf(content)
  const isKept = Array.isArray(content) || Object.keys(fields).length > 0
  return (
    <Section title="What was sent">
      <div className="grid items-start gap-6 md:grid-cols-2">
        <div className="min-w-0 space-y-2 break-words whitespace-pre-wrap">
          <Said type={type} content={content} />
          {context === null ? null : (
            <p className="text-[13px] text-muted">
              Answers <Id>{context.message_id}</Id>
            </p>
          )}
        </div>
        {!isKept
          ? null
          : type === "template"
          ? (
            <div>
              <Filled content={fields} from={from} />
            </div>
          )
          : type === "text"
          ? <TextPreview text={textOf(fields["body"])} />
          : null}
      </div>
    </Section>
  )
}
