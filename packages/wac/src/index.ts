export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorReason,
  type ErrorReasons,
  type ProviderDetail,
  WacError
} from "./WacError.ts"
