import { platformOf } from '../../domain/platform.ts'

/** Commands cannot be confined on this machine. `message` contains the cause and the remedy. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable'
  readonly code = 'SANDBOX_UNAVAILABLE'
  readonly why: string
  /** True: this machine can confine, but not what was requested. */
  readonly isOfRequest: boolean
  constructor(why: string, { isOfRequest = false, ...options }: ErrorOptions & { isOfRequest?: boolean } = {}) {
    super(
      `commands cannot be confined: ${why}. ${remedy()}, or set sandboxed: false, which lets commands do everything that ` +
        'you can do',
      options,
    )
    this.why = why
    this.isOfRequest = isOfRequest
  }
}

const remedy = (): string =>
  platformOf(process.platform).hasNamespaces
    ? 'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap)'
    : 'Run keepup in a container or a virtual machine with Linux'
