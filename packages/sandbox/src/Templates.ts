/**
 * The templates of the sandbox's account (contract §8).
 */
import type { Template, TemplateDraft } from "@wac/core"

const shared = { language: "en_US", parameterFormat: "positional" } as const
const approved = { ...shared, status: "approved", quality: "green", rejectionReason: null } as const

/** Three approved templates, a pending one and a rejected one. */
export const templates: ReadonlyArray<Template.ProviderTemplate> = [
  {
    ...approved,
    providerTemplateId: "sandbox_hello_world",
    name: "hello_world",
    category: "utility",
    components: [
      { type: "HEADER", format: "TEXT", text: "Hello World" },
      { type: "BODY", text: "Welcome! This message shows that your workspace can send." },
      { type: "FOOTER", text: "From the sandbox" }
    ]
  },
  {
    ...approved,
    providerTemplateId: "sandbox_order_update",
    name: "order_update",
    category: "utility",
    components: [
      { type: "HEADER", format: "TEXT", text: "Your order" },
      {
        type: "BODY",
        text: "Hi {{1}}, your order {{2}} is on its way. Reply to this message with any question.",
        example: { body_text: [["Ana", "1042"]] }
      }
    ]
  },
  {
    ...approved,
    providerTemplateId: "sandbox_promo",
    name: "promo",
    category: "marketing",
    components: [
      {
        type: "BODY",
        text: "This week only: {{1}} off everything in the shop.",
        example: { body_text: [["20%"]] }
      },
      { type: "FOOTER", text: "Reply STOP to opt out" }
    ]
  },
  {
    ...shared,
    providerTemplateId: "sandbox_pending_review",
    name: "pending_review",
    category: "utility",
    status: "pending",
    quality: null,
    rejectionReason: null,
    components: [
      {
        type: "BODY",
        text: "Your appointment on {{1}} is confirmed. See you then.",
        example: { body_text: [["3 May at 10:00"]] }
      }
    ]
  },
  {
    ...shared,
    providerTemplateId: "sandbox_rejected_offer",
    name: "rejected_offer",
    category: "marketing",
    status: "rejected",
    quality: null,
    rejectionReason: "scam",
    components: [{ type: "BODY", text: "You have won! Send us your bank details today to claim your prize." }]
  }
]

/** A stored template without the fields that the provider does not have. */
export const of = (template: Template.Template): Template.ProviderTemplate => {
  const { id: _id, providerAccountId: _account, syncedAt: _at, unfillable: _why, variables: _names, ...rest } = template
  const { workspaceId: _workspaceId, ...own } = rest
  return own
}

/** The template that a draft creates, which is approved at once. */
export const made = (
  { category, components, language, name, parameterFormat = "positional" }: TemplateDraft.TemplateDraft
): Template.ProviderTemplate => ({
  ...approved,
  providerTemplateId: `sandbox_${name}_${language}`,
  name,
  language,
  category,
  parameterFormat,
  components,
  quality: null
})
