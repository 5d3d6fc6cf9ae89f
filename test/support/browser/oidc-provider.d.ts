// The package has no types of its own.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  interface Account {
    readonly accountId: string
    claims(): object
  }

  export default class Provider {
    constructor(
      issuer: string,
      configuration: { readonly findAccount: (context: unknown, id: string) => Account } & Readonly<
        Record<string, unknown>
      >,
    )
    callback(): RequestListener
  }
}
