from lyceum.theatre.method import (
    StageSetting as StageSetting,
    TheatreMethod as TheatreMethod,
)
from lyceum.theatre.performance import list_methods as list_methods, play as play
from lyceum.theatre.player import player_html as player_html
from lyceum.theatre.scene import (
    Play as Play,
    Scene as Scene,
    SceneQuestion as SceneQuestion,
)
