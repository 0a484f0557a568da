/** An error that a form finds itself, before a request; `param` is the field's name in the API. */
export class Problem {
  readonly param: string
  readonly message: string
  constructor(param: string, message: string) {
    this.param = param
    this.message = message
  }
}
