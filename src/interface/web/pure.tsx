/** Draws a component again only if one of its properties is another value. */

import { Component, type VNode } from "preact";

export function pure<Props extends object>(Draw: (props: Props) => VNode | null) {
  return class Pure extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const { props } = this;
      for (const name in next) if (name !== "children" && props[name] !== next[name]) return true;
      return false;
    }

    override render(props: Props): VNode {
      return <Draw {...props} />;
    }
  };
}
