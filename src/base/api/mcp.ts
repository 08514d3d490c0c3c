/** MCP servers as a viewer sees them. */

/** The state of an MCP server of an agent. */
export interface McpServerView {
  readonly name: string;
  /**
   * `lost`: the connection ended, and the next call connects again. `login_needed`: `throughline mcp login` first.
   */
  readonly state: "connecting" | "connected" | "lost" | "failed" | "login_needed" | "disabled";
  readonly transport: "stdio" | "http";
  /** The program, or the origin of the address. */
  readonly target: string;
  /** How many tools it has listed. */
  readonly tools: number;
  /** The names that it gives to them. */
  readonly toolNames: readonly string[];
  /** Tools that cannot be used, each with the reason. */
  readonly leftOut: readonly string[];
  /** Which of the two eras of the protocol it speaks. Undefined until it has been connected. */
  readonly era?: "legacy" | "modern" | undefined;
  /** Why it is not connected. */
  readonly problem?: string | undefined;
}

/** A prompt that an MCP server offers. */
export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required: boolean;
  }[];
}

/** A message of a prompt. */
export interface McpPromptMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}
