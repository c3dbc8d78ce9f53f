"""The plugin's intent detection: what the user's text is about decides the orchestrator's mode.

python examples/srs-writer/intents.py "How do I write requirements?"
"""

import sys
from pathlib import Path

from remit import IntentRouter, ToolAccess

# The document's patterns, in English and Chinese. Chat was merged into KNOWLEDGE_QA. There, whatever no pattern matched
# was executed; here it is answered, since being unsure must not give more rights.
MODES = {
    "orchestrator:KNOWLEDGE_QA": [
        *("^how", "^what", "^what's", "^why", "^when", "^where", "^which", "best practice*"),
        *("如何", "怎么", "什么是", "为什么", "怎样", "最佳实践"),
        *("^hi", "^hello", "^hey", "^thanks", "weather", "^你好", "^谢谢", "^感谢", "天气"),
    ],
    "orchestrator:TOOL_EXECUTION": [
        *("^create", "^write", "^add", "^update", "^edit", "^check", "^fix", "^delete", "^please", "^start"),
        *("创建", "编写", "新增", "添加", "修改", "更新", "检查", "删除"),
    ],
}
ACCESS = ToolAccess(Path(__file__).with_name("remit.yaml"))
ROUTER = IntentRouter(ACCESS, MODES)

if __name__ == "__main__":
    chosen = ROUTER.choose(" ".join(sys.argv[1:]))
    print(f"{chosen.mode} ({chosen.because})")
    print(ACCESS.generate_access_report(chosen.mode))
