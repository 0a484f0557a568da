/**
 * A template to create or to change (contract §9), within the sizes that the provider publishes; `TemplateRules` has
 * its other rules. Components have the provider's own names. Pure.
 */
import { Schema } from "effect"
import * as PlainText from "../PlainText.ts"
import { Language, ParameterFormat } from "./Template.ts"
import * as TemplateNames from "./TemplateNames.ts"

const samples = (max: number) => Schema.Array(PlainText.between(1, max)).check(Schema.isMaxLength(100))

const NamedSamples = Schema.Array(
  Schema.Struct({ param_name: PlainText.between(1, 64), example: PlainText.between(1, 1024) }).annotate({
    identifier: "NamedSample",
    description: "A sample value of a named placeholder."
  })
).check(Schema.isMaxLength(100))

const Header = Schema.Struct({
  type: Schema.Literal("HEADER"),
  format: Schema.Literals(["TEXT", "IMAGE", "VIDEO", "DOCUMENT", "LOCATION"]),
  text: Schema.optionalKey(PlainText.between(1, 60)),
  example: Schema.optionalKey(Schema.Struct({
    header_text: Schema.optionalKey(samples(60)),
    header_text_named_params: Schema.optionalKey(NamedSamples),
    header_handle: Schema.optionalKey(samples(8192)).annotateKey({ description: "The handle of one uploaded file" }),
    media: Schema.optionalKey(PlainText.between(1, 64)).annotateKey({
      description: "In place of a handle: the id of a file of the workspace, which the provider gets a copy of"
    })
  }))
}).annotate({
  identifier: "HeaderComponent",
  description: "Text with one placeholder at most, a file or a location."
})

const Body = Schema.Struct({
  type: Schema.Literal("BODY"),
  text: Schema.optionalKey(PlainText.between(1, 1024)),
  example: Schema.optionalKey(Schema.Struct({
    body_text: Schema.optionalKey(
      Schema.Array(samples(1024)).check(Schema.isMinLength(1), Schema.isMaxLength(1))
    ).annotateKey({ description: "One list, with a value for each placeholder" }),
    body_text_named_params: Schema.optionalKey(NamedSamples)
  })),
  add_security_recommendation: Schema.optionalKey(Schema.Boolean)
}).annotate({
  identifier: "BodyComponent",
  description: "The text, which an authentication template leaves to the provider."
})

const Footer = Schema.Struct({
  type: Schema.Literal("FOOTER"),
  text: Schema.optionalKey(PlainText.between(1, 60)),
  code_expiration_minutes: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 90 })))
}).annotate({ identifier: "FooterComponent", description: "A line below the text, without placeholders." })

const label = PlainText.between(1, 25)

const Button = Schema.Union([
  Schema.Struct({ type: Schema.Literal("QUICK_REPLY"), text: label }),
  Schema.Struct({
    type: Schema.Literal("URL"),
    text: label,
    url: PlainText.between(1, 2000),
    example: Schema.optionalKey(samples(2000))
  }),
  Schema.Struct({ type: Schema.Literal("PHONE_NUMBER"), text: label, phone_number: PlainText.between(1, 20) }),
  Schema.Struct({
    type: Schema.Literal("COPY_CODE"),
    text: Schema.optionalKey(label),
    example: Schema.Union([
      PlainText.between(1, 20),
      Schema.Array(PlainText.between(1, 20)).check(Schema.isMaxLength(1))
    ])
  }),
  Schema.Struct({
    type: Schema.Literal("FLOW"),
    text: label,
    flow_id: Schema.optionalKey(PlainText.between(1, 64)),
    flow_name: Schema.optionalKey(PlainText.between(1, 200)),
    flow_json: Schema.optionalKey(PlainText.between(1, 65_536)),
    flow_action: Schema.optionalKey(Schema.Literals(["navigate", "data_exchange"])),
    navigate_screen: Schema.optionalKey(PlainText.between(1, 200)),
    icon: Schema.optionalKey(PlainText.between(1, 64))
  }),
  Schema.Struct({ type: Schema.Literal("CATALOG"), text: label }),
  Schema.Struct({ type: Schema.Literal("MPM"), text: label }),
  Schema.Struct({ type: Schema.Literal("SPM"), text: label }),
  Schema.Struct({ type: Schema.Literal("VOICE_CALL"), text: label }),
  Schema.Struct({
    type: Schema.Literal("OTP"),
    otp_type: Schema.Literals(["COPY_CODE", "ONE_TAP", "ZERO_TAP"]),
    text: Schema.optionalKey(label),
    autofill_text: Schema.optionalKey(label),
    zero_tap_terms_accepted: Schema.optionalKey(Schema.Boolean),
    supported_apps: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({ package_name: PlainText.between(1, 224), signature_hash: PlainText.between(11, 11) })
      ).check(Schema.isMinLength(1), Schema.isMaxLength(5))
    )
  })
]).annotate({ identifier: "ButtonComponent", description: "A button." })

const Buttons = Schema.Struct({
  type: Schema.Literal("BUTTONS"),
  buttons: Schema.Array(Button).check(Schema.isMinLength(1), Schema.isMaxLength(10))
}).annotate({ identifier: "ButtonsComponent", description: "One to ten buttons." })

const Offer = Schema.Struct({
  type: Schema.Literal("LIMITED_TIME_OFFER"),
  limited_time_offer: Schema.Struct({
    text: PlainText.between(1, 16),
    has_expiration: Schema.optionalKey(Schema.Boolean)
  })
}).annotate({ identifier: "OfferComponent", description: "An offer that ends, in a marketing template." })

const Carousel = Schema.Struct({
  type: Schema.Literal("CAROUSEL"),
  cards: Schema.Array(
    Schema.Struct({
      components: Schema.Array(Schema.Union([Header, Body, Buttons])).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(3)
      )
    })
  ).check(Schema.isMinLength(2), Schema.isMaxLength(10))
}).annotate({ identifier: "CarouselComponent", description: "Two to ten cards with the same components." })

/** A component of a template: header, body, footer, buttons, offer or carousel. */
export const Component = Schema.Union([Header, Body, Footer, Buttons, Offer, Carousel]).annotate({
  identifier: "TemplateComponent",
  description: "A part of a template, as the provider has it. Each type occurs once at most, and a body is required."
})
export type Component = typeof Component.Type

const components = Schema.Array(Component).check(Schema.isMinLength(1), Schema.isMaxLength(6))

/** The categories of templates that can be created. */
export const Category = Schema.Literals(["marketing", "utility", "authentication"]).annotate({
  identifier: "TemplateCategory",
  description: "The purpose of a template. The provider judges and prices templates by it, and may change it."
})
export type Category = typeof Category.Type

const ttl = Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: -1, maximum: 2_592_000 }))).annotateKey({
  description: "How long the provider tries to deliver a message, in seconds. -1 is the provider's own 30 days"
})

/** A template to create. */
export const TemplateDraft = Schema.Struct({
  name: Schema.String.check(
    Schema.isPattern(TemplateNames.name.pattern, {
      message: TemplateNames.name.message,
      toJsonSchema: () => ({
        pattern: TemplateNames.name.pattern.source,
        maxLength: TemplateNames.name.maxLength
      })
    })
  ).annotateKey({ description: "Lower-case letters, digits and underscores" }),
  language: Language,
  category: Category,
  parameterFormat: Schema.optionalKey(ParameterFormat).annotateKey({ description: "`positional` if omitted" }),
  components,
  messageSendTtlSeconds: ttl
})
export type TemplateDraft = typeof TemplateDraft.Type

/** A change of a template. Omitted fields stay. */
export const TemplateEdit = Schema.Struct({
  category: Schema.optionalKey(Category),
  components: Schema.optionalKey(components).annotateKey({ description: "Replace the old ones as a whole" }),
  messageSendTtlSeconds: ttl
}).check(
  Schema.makeFilter(
    (fields: object) =>
      Object.keys(fields).length > 0 || "one of category, components, messageSendTtlSeconds is required",
    { toJsonSchema: () => ({ minProperties: 1 }) }
  )
)
export type TemplateEdit = typeof TemplateEdit.Type
