/** Commands cannot be confined here. `message` says why, and what to do. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable'
  readonly code = 'SANDBOX_UNAVAILABLE'
  constructor(why: string, options?: ErrorOptions) {
    super(
      `commands cannot be confined: ${why}. Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or say ` +
        'sandboxed: false to let commands do what you could do',
      options,
    )
  }
}
