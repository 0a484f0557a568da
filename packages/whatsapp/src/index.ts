export * as Classification from "./Classification.ts"
export * as ErrorCodes from "./ErrorCodes.ts"
export * as GraphError from "./GraphError.ts"
