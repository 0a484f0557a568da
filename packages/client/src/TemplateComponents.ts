/**
 * The components of a template to create or to change (contract §9), with the provider's names.
 */

/** A sample value of a named placeholder. */
export interface NamedSample {
  readonly param_name: string
  readonly example: string
}

/** Text with one placeholder at most, a file or a location. */
export interface HeaderComponent {
  readonly type: "HEADER"
  readonly format: "TEXT" | "IMAGE" | "VIDEO" | "GIF" | "DOCUMENT" | "LOCATION"
  readonly text?: string
  readonly example?: {
    readonly header_text?: ReadonlyArray<string>
    readonly header_text_named_params?: ReadonlyArray<NamedSample>
    /** The handle of one uploaded file. */
    readonly header_handle?: ReadonlyArray<string>
    /** In place of a handle: the id of a file of the workspace. */
    readonly media?: string
  }
}

/** The text, which an authentication template leaves to the provider. */
export interface BodyComponent {
  readonly type: "BODY"
  readonly text?: string
  readonly example?: {
    /** One list, with a value for each placeholder. */
    readonly body_text?: ReadonlyArray<ReadonlyArray<string>>
    readonly body_text_named_params?: ReadonlyArray<NamedSample>
  }
  readonly add_security_recommendation?: boolean
}

/** A line below the text, without placeholders. */
export interface FooterComponent {
  readonly type: "FOOTER"
  readonly text?: string
  readonly code_expiration_minutes?: number
}

/** A button. */
export type ButtonComponent =
  | { readonly type: "QUICK_REPLY"; readonly text: string }
  | { readonly type: "URL"; readonly text: string; readonly url: string; readonly example?: ReadonlyArray<string> }
  | { readonly type: "PHONE_NUMBER"; readonly text: string; readonly phone_number: string }
  | { readonly type: "COPY_CODE"; readonly text?: string; readonly example: string | ReadonlyArray<string> }
  | {
    readonly type: "FLOW"
    readonly text: string
    readonly flow_id?: string
    readonly flow_name?: string
    readonly flow_json?: string
    readonly flow_action?: "navigate" | "data_exchange"
    readonly navigate_screen?: string
    readonly icon?: string
  }
  | { readonly type: "CATALOG"; readonly text: string }
  | { readonly type: "MPM"; readonly text: string }
  | { readonly type: "SPM"; readonly text: string }
  | { readonly type: "VOICE_CALL"; readonly text: string }
  | {
    readonly type: "OTP"
    readonly otp_type: "COPY_CODE" | "ONE_TAP" | "ZERO_TAP"
    readonly text?: string
    readonly autofill_text?: string
    readonly zero_tap_terms_accepted?: boolean
    readonly supported_apps?: ReadonlyArray<{ readonly package_name: string; readonly signature_hash: string }>
  }

/** One to ten buttons. */
export interface ButtonsComponent {
  readonly type: "BUTTONS"
  readonly buttons: ReadonlyArray<ButtonComponent>
}

/** An offer that ends, in a marketing template. */
export interface OfferComponent {
  readonly type: "LIMITED_TIME_OFFER"
  readonly limited_time_offer: { readonly text: string; readonly has_expiration?: boolean }
}

/** Two to ten cards with the same components. */
export interface CarouselComponent {
  readonly type: "CAROUSEL"
  readonly cards: ReadonlyArray<{
    readonly components: ReadonlyArray<HeaderComponent | BodyComponent | ButtonsComponent>
  }>
}

/** A part of a template. Each type occurs once at most, and a body is required. */
export type TemplateComponent =
  | HeaderComponent
  | BodyComponent
  | FooterComponent
  | ButtonsComponent
  | OfferComponent
  | CarouselComponent

/** What a template is for. */
export type TemplateCategory = "marketing" | "utility" | "authentication"
